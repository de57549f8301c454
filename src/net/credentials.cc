#include "net/credentials.h"

#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

namespace turno::net {

namespace {

std::string look_up(uid_t user) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/etc/passwd", "re"),
                                                             std::fclose);
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  while (file && ::fgetpwent_r(file.get(), &entry, buffer.data(), buffer.size(), &found) == 0)
    if (found->pw_uid == user) return found->pw_name;
  return std::to_string(user);
}

}  // namespace

std::string user_name(uid_t user) {
  static std::mutex mutex;
  static std::map<uid_t, std::string> known;
  const std::scoped_lock guard(mutex);
  auto& name = known[user];
  if (name.empty()) name = look_up(user);
  return name;
}

std::string Credentials::text() const {
  return (pid == 0 ? "" : "pid=" + std::to_string(pid) + ",") + "user=" + user_name(user);
}

std::optional<Credentials> credentials_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  // A TCP socket answers, too, but knows nobody.
  if (peer.uid == static_cast<uid_t>(-1)) return {};
  return Credentials{peer.pid, peer.uid};
}

Credentials own_credentials() { return {::getpid(), ::geteuid()}; }

}  // namespace turno::net
