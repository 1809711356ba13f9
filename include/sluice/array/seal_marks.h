// What lanes have written of sealed datasets, from the opening of the first cache to the end of the last.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/drive/volume.h"
#include "sluice/memory/buffer.h"

namespace sluice {

/// Owns a bit for each unit of each sealed dataset, in lanes' memory. All caches over one storage share it.
/// While it lives a volume that may be written is marked so (volume::begin_writing); its end makes the bits
/// last, and takes the mark away where that goes well.
class seal_marks {
 public:
  struct marked {
    drive::dataset of;
    memory::buffer units;  ///< a bit each: set where no sum counts
  };

  /// Datasets whose seals cover nothing are left out. `of` outlives it.
  seal_marks(drive::volume& of, backend lanes);
  seal_marks(const seal_marks&) = delete;
  seal_marks& operator=(const seal_marks&) = delete;
  ~seal_marks();

  backend lanes() const { return lanes_; }
  const std::vector<marked>& datasets() const { return datasets_; }

 private:
  drive::volume& volume_;
  backend lanes_;
  std::vector<marked> datasets_;
};

}  // namespace sluice
