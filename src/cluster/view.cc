#include "cluster/view.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/assert.h"

namespace turno::cluster {

Moment Moment::now() {
  Moment moment;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> moment.boot;
  moment.ns = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  return moment;
}

std::chrono::nanoseconds View::remaining_delay(const Moment& now) const {
  const std::chrono::nanoseconds none{0}, all = std::chrono::milliseconds(lock_delay_ms);
  if (last_crash == 0) return none;
  if (!crash_moment || crash_moment->boot.empty() || now.boot.empty()) return all;
  if (crash_moment->boot != now.boot) return none;
  if (crash_moment->ns > now.ns) return all;
  const std::chrono::nanoseconds since(now.ns - crash_moment->ns);
  return since < all ? all - since : none;
}

std::string wrong_with_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= longest_node_name && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), fits))
    return {};
  return "'" + std::string(name.substr(0, longest_node_name)) +
         "' is no name of a node: it has 1 to " + std::to_string(longest_node_name) +
         " letters, digits, '.', '_' and '-', and does not begin with '.'";
}

std::uint64_t random_id() {
  for (;;) {
    std::uint64_t id = 0;
    TURNO_ASSERT(::getentropy(&id, sizeof id) == 0);
    id >>= 1;
    if (id != 0) return id;
  }
}

}  // namespace turno::cluster
