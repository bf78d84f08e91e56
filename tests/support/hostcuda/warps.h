// For kernels whose warps wait by themselves, or whose lanes tell each other what they have: each
// writes, all wait, each reads; and all wait again, so that nobody writes before.
#pragma once

extern "C" void hc_syncwarp();  // device.cpp
#define __syncwarp(...) hc_syncwarp()

inline unsigned hc_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

template <class T> T hc_told(T x, unsigned from) {
  static T told[1024];
  told[hc_thread()] = x;
  hc_syncwarp();
  T found = told[from];
  hc_syncwarp();
  return found;
}

// The lane asked, in this thread's group of `width`; its own where that is not in the group.
inline unsigned hc_lane(int lane, int first, int width) {
  unsigned thread = hc_thread();
  return lane < first || lane >= first + width ? thread : (thread & ~31u) + lane;
}

template <class T> T __shfl_xor_sync(unsigned, T x, int mask, int width = 32) {
  int lane = hc_thread() % 32, first = lane / width * width;
  return hc_told(x, hc_lane(lane ^ mask, first, width));
}
template <class T> T __shfl_down_sync(unsigned, T x, unsigned by, int width = 32) {
  int lane = hc_thread() % 32, first = lane / width * width;
  return hc_told(x, hc_lane(lane + (int)by, first, width));
}
template <class T> T __shfl_up_sync(unsigned, T x, unsigned by, int width = 32) {
  int lane = hc_thread() % 32, first = lane / width * width;
  return hc_told(x, hc_lane(lane - (int)by, first, width));
}
template <class T> T __shfl_sync(unsigned, T x, int from, int width = 32) {
  int lane = hc_thread() % 32, first = lane / width * width;
  return hc_told(x, hc_lane(first + from % width, first, width));
}
