// Sockets by address: "host:port", ":port", or "unix:/path" (a path alone will do).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "net/fd.h"

namespace turno::net {

// In words, for people: "cannot listen on 127.0.0.1:80: Permission denied".
using Failure = std::string;

// All are non-blocking and closed on exec.
// Port 0 takes any free one: address_of() tells which. Looks names up, which may take long: not for
// the thread of a loop.
tl::expected<Fd, Failure> listen(std::string_view address);
// The connection may still be under way: writable means done, and error_of() tells how it went.
// Takes numbers only, as address_of() tells them, and never waits for a name server.
tl::expected<Fd, Failure> connect(std::string_view address);
// Nothing if there is nobody to accept.
Fd accept(const Fd& listener);

// "127.0.0.1:4711" or "unix:/path" of this end.
std::string address_of(const Fd& socket);
// And of the other end.
std::string peer_of(const Fd& socket);
// The error of a connection that was under way; 0 if there is none.
int error_of(const Fd& socket);

}  // namespace turno::net
