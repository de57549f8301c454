// The registry decides who is a member. It is the only maker of views.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "cluster/view.h"

namespace turno::registry {

using cluster::Member;
using cluster::Moment;
using cluster::View;

struct Error {
  enum class Kind : std::uint8_t {
    absent,       // there is no registry at this place
    refused,      // as asked, it will not succeed by trying again
    unavailable,  // the old view stays valid; a later call may succeed (a full disk, a busy
                  // registry)
    damaged,      // the registry cannot be read: corrupt, or of another version
    lost,         // the registry that this node joined is gone: this node is no longer a member
  };
  Kind kind = Kind::unavailable;
  std::string message;  // what, where, and what to do

  bool operator==(const Error&) const = default;
};

template <class T>
using Expected = tl::expected<T, Error>;

// What a joining node wants of the cluster. The first member fixes it; later ones take what is
// fixed, and are refused if they name another algorithm or speak another version.
struct Settings {
  std::string algorithm;           // empty: whatever the cluster has
  std::string fallback_algorithm;  // taken if `algorithm` is empty and this is the first member
  std::string allocator;           // the same for reservations
  std::string fallback_allocator;
  std::uint32_t wire = 0;  // the version of what it says to other members
  std::int64_t lock_delay_ms = 0;
  std::int64_t idle_ms = 0;
};

// Thread-safe. Every change of the view also drops the members that are certainly dead. Who has not
// joined may look (current, is_dead) and make the registry look (reconsider).
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  virtual ~Registry() = default;  // without leave() the member counts as dead

  // Adds this member. One registry object joins for one member at a time.
  virtual Expected<View> join(const Member& self, const Settings& wanted) = 0;

  // Removes this member. After an error it is still one. Without having joined, nothing.
  virtual Expected<void> leave() = 0;

  // The view as it is now. Cheap: meant to be called ten times a second.
  virtual Expected<View> current() = 0;

  // Looks for the dead. The epoch grows only if there are any, or if `bump`.
  virtual Expected<View> reconsider(bool bump) = 0;

  // Whether this member of the view is dead for certain. False is no proof of life: a dying process
  // may lose its connections a moment before its death can be seen, so ask again while in doubt.
  virtual bool is_dead(std::uint64_t id) = 0;
};

}  // namespace turno::registry
