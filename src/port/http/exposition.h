// Writes metrics in the text format of Prometheus, version 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace turno::port {

class Exposition {
 public:
  static constexpr std::string_view type = "text/plain; version=0.0.4; charset=utf-8";
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Begins a family; its samples follow. The names are our own and need no escaping.
  Exposition& counter(std::string_view name, std::string_view help);
  Exposition& gauge(std::string_view name, std::string_view help);
  Exposition& sample(Labels labels, std::uint64_t value);
  Exposition& sample(Labels labels, std::int64_t value);
  Exposition& sample(Labels labels, double value);
  template <class T>
  Exposition& sample(T value) {
    return sample({}, value);
  }
  // A family of one histogram. `counts` has one more than `bounds_us`, and none is cumulative.
  void histogram(std::string_view name, std::string_view help,
                 std::span<const std::uint64_t> bounds_us, std::span<const std::uint64_t> counts,
                 double sum);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void begin(std::string_view name, std::string_view help, std::string_view kind);
  void line(std::string_view suffix, Labels labels, std::string_view value);

  std::string out_;
  std::string family_;
};

}  // namespace turno::port
