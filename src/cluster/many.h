// A part (part.h) where several of the member's users may have something at once: a semaphore's, a
// room's, a store's. The one door is here; who of them has what is in the desk built on it.
#pragma once

#include "cluster/part.h"

namespace turno::cluster {

template <class P, class Whole>
struct Many : cluster::Part<P, Whole, PoolOutcome> {
  using Base = cluster::Part<P, Whole, PoolOutcome>;
  using Base::home;
  using typename Base::Event;
  using typename Base::Out;

  bool operator==(const Many&) const = default;

  // The one door.
  void step(const Context& context, const Event& event, Out& out) {
    typename Base::Step step{context, out};
    auto& whole = this->whole();
    switch (event.kind) {
      case Event::Kind::ask:
      case Event::Kind::attempt:
        whole.ask(step, event);
        break;
      case Event::Kind::leave:
        out.done = whole.leave(step, event);
        break;
      case Event::Kind::withdraw:
        out.done = whole.withdraw(step, event);
        if (!whole.is_used_here()) this->stop_asking(step, this->phase == Base::Phase::asked);
        break;
      case Event::Kind::receive:
        this->receive(step, event.from, *event.note);
        this->deliver_orphans(step);
        break;
      case Event::Kind::adopt:
        whole.adopt(step, event);
        break;
      case Event::Kind::retire:
        if (home.lives()) this->retire(step);
        break;
      case Event::Kind::delay_over:
        home.clear = home.here;
        whole.end_delay(step);
        break;
      case Event::Kind::expire:
        this->expire(step, event.timer);
        break;
      case Event::Kind::spoil:
        this->spoil(step);
        break;
      case Event::Kind::resize:
        if constexpr (requires { whole.resizer; }) whole.resize(step, event);
        break;
      default:
        break;  // of locks only
    }
    whole.use(step);
  }

 protected:
  void adopt(typename Base::Step& step, const Event& event) {
    this->whole().start_again(step, 0, this->begin_view(step, event));
  }
};

}  // namespace turno::cluster
