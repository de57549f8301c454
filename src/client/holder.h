// Who is who: read from the node's answers to WHO and HELLO, and told to people.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "turno/client.h"
#include "wire/resp.h"

namespace turno::client {

tl::expected<std::optional<Holder>, Error> holder_from(const wire::Reply& reply);
// From the answer to LEADER or to OBSERVE.
tl::expected<std::optional<Leader>, Error> leader_from(const wire::Reply& reply);
Client::Identity identity_from(const wire::Reply& hello);

// "held by node n2, session 7 (backup), for 3.2 s; 2 wait"
std::string describe(const Holder& holder);

}  // namespace turno::client
