// Who holds a lock: read from the node's answer to WHO, and told to people.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "turno/client.h"
#include "wire/resp.h"

namespace turno::client {

tl::expected<std::optional<Holder>, Error> holder_from(const wire::Reply& reply);

// "held by node n2, session 7 (backup), for 3.2 s; 2 wait"
std::string describe(const Holder& holder);

}  // namespace turno::client
