// A session's place in a queue, for one wish.
#pragma once

#include <string>

#include "port/resp/session.h"

namespace turno::port {

class Session::Wait final : public table::PermitWaiter {
 public:
  Wait(Session& session, std::uint64_t its_ticket, const Wanted& wanted)
      : table::PermitWaiter(session.owner_),
        name(wanted.name),
        ttl(wanted.ttl),
        ticket(its_ticket),
        asker(wanted.asker),
        thing(wanted.thing),
        tries(wanted.timeout == std::chrono::milliseconds(0)),
        value_(wanted.value),
        session_(session) {
    count = wanted.count;
    permits = wanted.permits;
    by_default = wanted.by_default;
    resizes = wanted.resizes;
    group = wanted.group;
    claims.assign(wanted.claims.begin(), wanted.claims.end());
  }

  [[nodiscard]] std::string_view value() const override { return value_; }
  void settled(table::Afterwards& afterwards) override;
  // Why it can never be granted; empty: it could have been.
  [[nodiscard]] std::string objection() const;
  [[nodiscard]] std::string objection_of_room() const;
  [[nodiscard]] std::string objection_of_store() const;

  const std::string name;
  const std::chrono::milliseconds ttl;
  const std::uint64_t ticket;
  Speaker* const asker;
  const Thing thing;
  const bool tries;  // it ends soon, whatever happens
  net::Loop::Timer timeout;
  bool reported = false;  // to be part of a deadlock

 private:
  [[nodiscard]] std::string declared() const;

  const std::string value_;
  Session& session_;
};

}  // namespace turno::port
