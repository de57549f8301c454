// Whose process is at the other end of a Unix socket. The kernel tells, so nobody can lie.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "net/fd.h"

namespace turno::net {

struct Credentials {
  pid_t pid = 0;  // 0: in a place whose processes cannot be seen from here
  uid_t user = 0;

  // "pid=7,user=alice"
  [[nodiscard]] std::string text() const;
};

// Of who made the connection. Nothing if it is no Unix socket.
[[nodiscard]] std::optional<Credentials> credentials_of(const Fd& socket);
[[nodiscard]] Credentials own_credentials();

// As in /etc/passwd, else the number. Asks no name server, so that a loop may ask.
[[nodiscard]] std::string user_name(uid_t user);

}  // namespace turno::net
