// The replies to those who ask who holds and who waits. What is not known is said: docs/clients.md.
#pragma once

#include <string_view>

#include "port/host.h"
#include "port/resp/pairs.h"
#include "wire/resp.h"

namespace turno::port {

void write_who(wire::ReplyWriter& out, std::string_view name, const Findings& findings);
void write_waiters(wire::ReplyWriter& out, std::string_view name, const Findings& findings);
void write_locks(wire::ReplyWriter& out, std::string_view, const Findings& findings);
void write_members(wire::ReplyWriter& out, const Host& host);

}  // namespace turno::port
