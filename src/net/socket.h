// Sockets by address (net/address.h).
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "net/address.h"
#include "net/fd.h"

namespace turno::net {

// All are non-blocking and closed on exec.
// Port 0 takes any free one: address_of() tells which. Looks names up, which may take long: not for
// the thread of a loop. `mode` is that of a Unix socket: who may write to it may connect.
tl::expected<Fd, Failure> listen(std::string_view address, mode_t mode = S_IRUSR | S_IWUSR);
// Whether only processes of this machine could connect to one who listens there.
tl::expected<bool, Failure> is_local(std::string_view address);
// The connection may still be under way: writable means done, and error_of() tells how it went.
// Takes numbers only, as address_of() tells them, and never waits for a name server.
tl::expected<Fd, Failure> connect(std::string_view address);
// The same for one who can wait, and for names: made when it returns. The failure is the bare
// reason.
tl::expected<Fd, Failure> connect_within(const Address& address, std::chrono::milliseconds time);
// Nothing if there is nobody to accept.
Fd accept(const Fd& listener);

// Removes the file "unix:/path" of one who was killed: a socket on which nobody listens, and not
// one that somebody makes just now.
void remove_abandoned_socket(std::string_view address);

// "127.0.0.1:4711" or "unix:/path" of this end.
std::string address_of(const Fd& socket);
// And of the other end; of a Unix socket "unix:pid=7,user=alice".
std::string peer_of(const Fd& socket);
// The error of a connection that was under way; 0 if there is none.
int error_of(const Fd& socket);

}  // namespace turno::net
