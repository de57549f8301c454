// What a node has been told of things by their names, or the beginnings of their names, before
// anybody uses them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace turno::port {

struct SemaphoreDeclaration {
  std::uint32_t permits = 0;
  std::string where = {};  // for people: "semaphores.gpu, /etc/turno.toml:3:1"

  bool operator==(const SemaphoreDeclaration&) const = default;
};

struct ResourceDeclaration {
  std::uint32_t instances = 0;
  std::string where = {};

  bool operator==(const ResourceDeclaration&) const = default;
};

class Declarations {
 public:
  // "gpu", or "build-*" for all names that begin with "build-". What is wrong with such a name, or
  // nothing.
  [[nodiscard]] static std::string wrong_with(std::string_view name);

  // REQUIRES: nothing is wrong with the name
  void declare_semaphore(const std::string& name, SemaphoreDeclaration declaration) {
    semaphores_[name] = std::move(declaration);
  }
  // A type of the store that is used unless another is named.
  void declare_resource(const std::string& name, ResourceDeclaration declaration) {
    resources_[name] = std::move(declaration);
  }
  // Of several that fit the name itself, or else the longest beginning. Null: none does.
  [[nodiscard]] const SemaphoreDeclaration* semaphore(std::string_view name) const;
  [[nodiscard]] const ResourceDeclaration* resource(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return semaphores_.size(); }
  [[nodiscard]] std::size_t resources() const { return resources_.size(); }

 private:
  template <class Declaration>
  using ByName = std::map<std::string, Declaration, std::less<>>;  // as they were written
  template <class Declaration>
  static const Declaration* find(const ByName<Declaration>& all, std::string_view name);

  ByName<SemaphoreDeclaration> semaphores_;
  ByName<ResourceDeclaration> resources_;
};

}  // namespace turno::port
