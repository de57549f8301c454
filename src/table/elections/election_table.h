// All the elections of a node: an election is a lock whose holder leads, and whose fence is the
// term. What is more: each leader has a value of its own, and whoever wants to know is told who
// begins, moves and ends.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/elections/leaders.h"
#include "table/lock_table.h"

namespace turno::table {

class ElectionTable final : public LockTable {
 public:
  // Of a leader here. Called with the table unlocked, in the thread that changed it: two changes
  // can come in the other order.
  using Changed = std::function<void(const Leadership&)>;

  // `member`: this one.
  ElectionTable(std::unique_ptr<LockEngine> engine, Options options, Lost lost, Wake wake,
                std::uint64_t member, Changed changed)
      : LockTable(Thing::election, std::move(engine), options, std::move(lost), std::move(wake)),
        member_(member),
        changed_(std::move(changed)) {}

  // All who lead here, and those who have moved here from a member that leaves.
  [[nodiscard]] std::vector<Leadership> leaders();
  // The leader of this term has moved to another member, which tells of it from now on.
  void moved(std::string_view election, Fence term);

 private:
  void begins(const Entry& entry, Fence term, const Owner& owner, std::string_view value) override;
  void ends(const Entry& entry, Fence term) override;
  void stays_away(const Entry& entry, Fence term) override;
  [[nodiscard]] std::string value_of(const Entry& entry, Fence term) const override;
  using ByName = std::map<std::string, Leadership, std::less<>>;
  [[nodiscard]] ByName::const_iterator find_leader(std::string_view election, Fence term) const;
  void tell(Leadership leadership);

  const std::uint64_t member_;
  const Changed changed_;
  ByName leaders_;
};

}  // namespace turno::table
