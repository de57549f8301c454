// All the locks of a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "table/bequests.h"
#include "table/table.h"

namespace turno::table {

class LockTable : public Table {
 public:
  LockTable(std::unique_ptr<LockEngine> engine, Options options, Lost lost, Wake wake = {})
      : Table(Thing::lock, std::move(engine), options, std::move(lost), std::move(wake)) {}
  ~LockTable() override;

  // An entry that stays until it is closed.
  Entry& open(std::string_view name);
  void close(Entry& entry);

  // What the waiter's state says when these return: granted or refused at once; waiting, and it
  // will be settled; or failed if the node has ended. True: granted.
  bool acquire(Entry& entry, Waiter& waiter);
  bool acquire(std::string_view name, Waiter& waiter);
  // The same for one that only tries: it is refused as soon as somebody is in the way.
  bool attempt(Entry& entry, Waiter& waiter);
  bool attempt(std::string_view name, Waiter& waiter);
  // True: withdrawn. False: too late, it is settled.
  bool withdraw(std::string_view name, Waiter& waiter);
  bool withdraw(Entry& entry, Waiter& waiter);
  // False: this owner does not hold it (with this fence, if it is given).
  bool release(std::string_view name, const Owner& owner, Fence fence = {});
  // For waiters that pin: ends the grant, also if the lock was lost meanwhile.
  void give_back(Entry& entry, Fence fence);
  // Takes the lock away from whoever holds it with this fence.
  bool take_back(std::string_view name, Fence fence, std::string_view reason);
  // An owner that moves to another node, because this one leaves: its lock stays as it is until
  // this node is gone, and its owner lets go of it there. What the other node is to be told;
  // nothing: it does not hold it so.
  std::optional<Bequest> bequeath(std::string_view name, const Owner& owner, Fence fence);
  // The other node did not want it.
  void reclaim(std::string_view name, const Owner& owner, Fence fence);
  // What the owner holds at that member, it holds here once that one is gone. False: cannot be.
  bool inherit(const Bequest& bequest, const Owner& owner, std::uint64_t member);
  // And the member that it comes from is not gone yet.
  [[nodiscard]] bool inherits(std::string_view name, const Owner& owner);
  // It stays where it is after all.
  void disinherit(std::string_view name, const Owner& owner);

  [[nodiscard]] bool holds(Entry& entry, Fence fence);
  [[nodiscard]] bool holds(std::string_view name, const Owner& owner, Fence fence = {});

 protected:
  LockTable(Thing thing, std::unique_ptr<LockEngine> engine, Options options, Lost lost, Wake wake)
      : Table(thing, std::move(engine), options, std::move(lost), std::move(wake)) {}

  // For a kind of lock of which more is to be known than who has it. REQUIRE the mutex.
  virtual void begins(const Entry&, Fence, const Owner&, std::string_view /*value*/) {}
  virtual void ends(const Entry&, Fence) {}
  virtual void stays_away(const Entry&, Fence) {}  // who was to move here
  [[nodiscard]] virtual std::string value_of(const Entry&, Fence) const { return {}; }

 private:
  void tell_users(Entry& entry, const Result& result) override;
  void end_users(Entry& entry, std::string_view reason) override;
  void sight_holders(const Entry& entry, std::size_t most, Sightings& found) const override;
  void sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const override;
  void sight_notes(const Entry& entry, std::size_t most, Sightings& found) const override;
  void arrange(Setup& setup) const override;
  [[nodiscard]] bool inherits_from_gone(const Entry& entry,
                                        const cluster::View& view) const override;
  void come_into(Entry& entry, bool inside) override;
  void note_held(Entry& entry) override { entry.noted = now(); }
  void before_forgetting(Entry& entry) override;
  void tick_users() override;

  [[nodiscard]] const cluster::Turn& turn(const Entry& entry) const {
    return static_cast<const LockEngine&>(*engine_).turn(entry);
  }
  [[nodiscard]] bool is_kept(const Entry& entry) const;
  bool join_line(Entry& entry, Waiter& waiter, Event::Kind kind);
  bool withdraw_locked(Entry& entry, Waiter& waiter);
  void leave(Entry& entry);
  void let_in(Entry& entry, const Result& result);
  Entry* find_inherited(std::string_view name, const Owner& owner, Fence fence);
  void let_go_of_inherited(Entry& entry);
  void watch(Entry& entry);

  boost::intrusive::list<Entry, boost::intrusive::base_hook<WatchHook>>
      watched_;  // whose home may have to be told that they are held; the oldest first
  const Owner moved_{0, "moves to another node"};  // who has what was bequeathed
};

}  // namespace turno::table
