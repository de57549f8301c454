// One observer of some elections at each node, and what it is told: for each of them terms never go
// back, who is said to lead a term is the one who did, and in the end all know the last leader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster.h"
#include "speaker.h"

namespace turno::torture {

// What an observer was told. Of elections by their numbers.
struct News {
  std::uint32_t node = 0;
  std::uint64_t connection = 0;  // of an observer that begins anew nothing is known
  std::uint32_t election = 0;
  std::uint64_t term = 0;
  bool leads = false;  // else nobody does, after this term
  std::string value;   // of the leader: its number
};

// What is wrong with news, by what the leaders noted themselves.
std::vector<std::string> judge_news(const std::vector<News>& news, const std::vector<Hold>& reigns);

class Observers {
 public:
  Observers(const Cluster& cluster, std::vector<std::string> elections)
      : cluster_(cluster), elections_(std::move(elections)) {}

  // Begins to observe at nodes that are new, and hears what is there to be heard.
  void tick();
  [[nodiscard]] const std::vector<News>& news() const { return news_; }
  // Whether all who observe know that, by now.
  [[nodiscard]] bool all_know(std::uint32_t election, std::uint64_t term, bool leads) const;

 private:
  struct Observer {
    std::uint64_t connection = 0;
    std::unique_ptr<Speaker> speaker;
    std::map<std::uint32_t, News> last{};  // by election
  };
  void begin(std::uint32_t node);
  void hear(std::uint32_t node, Observer& observer, const wire::Reply& reply);

  const Cluster& cluster_;
  const std::vector<std::string> elections_;
  std::map<std::uint32_t, Observer> observers_;  // by node
  std::uint64_t connections_ = 0;
  std::vector<News> news_;
};

}  // namespace turno::torture
