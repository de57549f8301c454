// Who leads what, as far as one member has heard: a value. News come from several members and can
// overtake each other; what is known of an election only goes forward. Terms grow, and within a
// term its leader begins, perhaps moves to another member, and ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/view.h"
#include "core/fence.h"
#include "wire/buffer.h"

namespace turno::table {

struct Leadership {
  // In the order in which one term goes through them. gone: its member is no longer in the view,
  // and nobody has said that the leader moved; it may still turn out that it did.
  enum class State : std::uint8_t { gone, leads, ended };

  std::string election;
  Fence term;
  State state = State::ended;
  std::uint64_t member = 0;  // where the leader is, or was
  std::string value;         // the leader's own, while it leads
  std::string client;

  [[nodiscard]] bool leads() const { return state == State::leads; }
  bool operator==(const Leadership&) const = default;
};

void encode(wire::Writer& out, const Leadership& leadership);
// Nothing: it makes no sense.
std::optional<Leadership> decode_leadership(wire::Reader& in);

class Leaders {
 public:
  // Elections in which nobody leads are remembered, or old news of them would be news again: the
  // last so many.
  static constexpr std::size_t most_ended = 10'000;

  // True: that is a change. False: it is known, or later news are.
  bool hear(const Leadership& news);
  // A new view: whose member is no longer in it leads no more. What has changed.
  std::vector<Leadership> adopt(const cluster::View& view);
  // That member has told of all who lead there, after adopt(): who led there before and was not
  // told of has ended. What has changed.
  std::vector<Leadership> heard_all_of(std::uint64_t member);

  // Null: nobody is known to lead it.
  [[nodiscard]] const Leadership* leader_of(std::string_view election) const;
  // All who lead.
  [[nodiscard]] std::vector<Leadership> all() const;
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    Leadership last;
    std::uint64_t heard = 0;  // in which view that was said
  };
  void end(Known& known, Leadership::State state, std::vector<Leadership>& changes);
  void remember_end(const Leadership& last);

  std::map<std::string, Known, std::less<>> known_;
  std::deque<std::pair<std::string, Fence>> ended_;  // the oldest first; some lead again
  std::uint64_t views_ = 0;
};

}  // namespace turno::table
