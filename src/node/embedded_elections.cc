#include "node/embedded_elections.h"

#include <future>
#include <mutex>
#include <utility>

#include "port/findings.h"

namespace turno::node {

namespace {

using namespace std::chrono_literals;
// The loop answers at once, unless the node has ended; all members have a second.
constexpr auto patience = 5s;

Error node_ends(std::string_view election) {
  return {Error::Code::unavailable, "election '" + std::string(election) + "': the node ends"};
}

// The news come in the loop's thread. Who ends the observation waits for a call that is made.
class Observed final : public Observation {
 public:
  struct Shared {
    std::mutex mutex;
    Service::LeaderChanged changed;  // none: it has ended
    std::uint64_t number = 0;        // of the observer
    void tell(const std::optional<Leader>& leader) {
      const std::scoped_lock guard(mutex);
      if (changed) changed(leader);
    }
  };

  Observed(Daemon& daemon, std::shared_ptr<Shared> shared)
      : daemon_(daemon), shared_(std::move(shared)) {}
  ~Observed() override {
    {
      const std::scoped_lock guard(shared_->mutex);
      shared_->changed = {};
    }
    daemon_.loop().post(
        [&daemon = daemon_, shared = shared_] { daemon.unobserve(shared->number); });
  }

 private:
  Daemon& daemon_;
  const std::shared_ptr<Shared> shared_;
};

std::optional<Leader> leader_in(const Daemon& daemon, const Leadership& leadership) {
  if (!leadership.leads()) return std::nullopt;
  const auto* member = daemon.view().find(leadership.member);
  return Leader{.term = leadership.term.value,
                .value = leadership.value,
                .node = member == nullptr ? "" : member->name,
                .client = leadership.client};
}

}  // namespace

tl::expected<std::optional<Leader>, Error> leader_of(Daemon& daemon, std::string_view election) {
  const auto answer = std::make_shared<std::promise<Findings>>();
  auto findings = answer->get_future();
  daemon.loop().post([&daemon, answer, name = std::string(election)] {
    daemon.ask(name, [answer](Findings found) { answer->set_value(std::move(found)); });
  });
  if (findings.wait_for(patience) != std::future_status::ready)
    return tl::unexpected(node_ends(election));
  const auto found = findings.get();
  const auto* holder = port::put_in_order(found.found, table::Thing::election).holder;
  if (holder != nullptr)
    return Leader{.term = holder->sighting.fence.value,
                  .value = holder->sighting.value,
                  .node = holder->node,
                  .client = holder->sighting.client};
  if (found.complete()) return std::nullopt;
  return tl::unexpected(Error{Error::Code::unavailable, "election '" + std::string(election) +
                                                            "': nobody that answered leads; " +
                                                            port::describe_silent(found.silent)});
}

tl::expected<std::unique_ptr<Observation>, Error> observe(Daemon& daemon, std::string_view election,
                                                          Service::LeaderChanged changed) {
  auto shared = std::make_shared<Observed::Shared>();
  shared->changed = std::move(changed);
  auto observed = std::make_unique<Observed>(daemon, shared);
  const auto begun = std::make_shared<std::promise<void>>();
  daemon.loop().post([&daemon, shared, begun, name = std::string(election)] {
    const auto* now = daemon.leaders().leader_of(name);
    shared->tell(now == nullptr ? std::nullopt : leader_in(daemon, *now));
    shared->number = daemon.observe([&daemon, shared, name](const Leadership& change) {
      if (change.election == name) shared->tell(leader_in(daemon, change));
    });
    begun->set_value();
  });
  if (begun->get_future().wait_for(patience) != std::future_status::ready)
    return tl::unexpected(node_ends(election));
  return observed;
}

}  // namespace turno::node
