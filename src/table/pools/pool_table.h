// All the semaphores of a node, or all its rooms, or all its stores: what several may have at once.
#pragma once

#include <string>
#include <string_view>

#include "table/table.h"

namespace turno::table {

class PoolTable final : public Table {
 public:
  PoolTable(std::unique_ptr<PoolEngine> engine, Options options, Lost lost, Wake wake = {},
            Thing thing = Thing::semaphore);

  // What the waiter's state says when these return: granted or refused at once; waiting, and it
  // will be settled; or failed if the node has ended. True: granted. Who only tries is refused if
  // not enough is free.
  bool acquire(std::string_view name, PermitWaiter& waiter);
  bool attempt(std::string_view name, PermitWaiter& waiter);
  // True: withdrawn. False: too late, it is settled.
  bool withdraw(std::string_view name, PermitWaiter& waiter);
  // How many permits or resources it was that this owner had by the grant with this fence; 1, if it
  // was in the room with it.
  std::size_t release(std::string_view name, const Owner& owner, Fence fence);
  // Takes away what was granted with this fence: to this owner, or to whoever has it.
  bool take_back(std::string_view name, Fence fence, std::string_view reason,
                 const Owner* owner = nullptr);
  [[nodiscard]] bool holds(std::string_view name, const Owner& owner, Fence fence);
  // How many permits there are, or how many of a room's group may be inside; 0: it is not known.
  [[nodiscard]] std::uint32_t most(std::string_view name, std::string_view group);

 private:
  void tell_users(Entry& entry, const Result& result) override;
  void end_users(Entry& entry, std::string_view reason) override;
  void sight_holders(const Entry& entry, std::size_t most, Sightings& found) const override;
  void sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const override;
  void arrange(Setup& setup) const override;

  [[nodiscard]] const PoolEngine& pools() const { return static_cast<const PoolEngine&>(*engine_); }
  static PoolEntry& pool(Entry& entry) { return static_cast<PoolEntry&>(entry); }
  static const PoolEntry& pool(const Entry& entry) { return static_cast<const PoolEntry&>(entry); }
  bool join_line(std::string_view name, PermitWaiter& waiter, Event::Kind kind);
  PermitWaiter* take_waiter(PoolEntry& entry, cluster::UserId number);
  const PermitGrant* find_grant(std::string_view name, Fence fence, const Owner* owner);
  void leave(PoolEntry& entry, const PermitGrant& grant);

  void conclude(PermitWaiter& waiter, Waiter::State state);
  Fence name_reservation(const PermitGrant& grant);

  const PermitWaiter* asking_ = nullptr;  // whose step is being made
  cluster::UserId numbers_ = 0;           // of users, so far
  Fence reservation_;                     // of the last grant of a store
};

}  // namespace turno::table
