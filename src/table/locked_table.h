// The mutex of a table, held.
#pragma once

#include "table/table.h"

namespace turno::table {

class Table::Locked {
 public:
  // What comes from the network goes first: a thread that locks and unlocks in a tight loop would
  // else keep it out, and others in the cluster would not get their turn.
  enum class Who : std::uint8_t { anybody, polite, network };

  explicit Locked(Table& table, Who who = Who::anybody) : table_(table) {
    if (who == Who::network) {
      table_.network_waits_.store(true, std::memory_order_relaxed);
      table_.mutex_.lock();
      table_.network_waits_.store(false, std::memory_order_relaxed);
      table_.now_ = {};
      return;
    }
    if (who == Who::polite)
      while (table_.network_waits_.load(std::memory_order_relaxed)) std::this_thread::yield();
    table_.mutex_.lock();
    table_.now_ = {};
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    if (table_.afterwards_.empty() && table_.stage_.waiting_links.empty()) {
      table_.mutex_.unlock();
    } else {
      table_.unlock_and_catch_up();
    }
  }

 private:
  Table& table_;
};

}  // namespace turno::table
