//! Buffers that start on a cache line, as tile and vector loads want them.

use std::ops::{Deref, DerefMut};

/// One cache line; a `Vec` of these is aligned for 64-byte loads.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// Numbers that may fill a [`Buffer`]: any bit pattern is a value and lines divide evenly into them.
pub(crate) trait Plain: Copy + private::Sealed {}
impl Plain for f32 {}
impl Plain for i32 {}
impl Plain for u16 {}
impl Plain for u8 {}
impl Plain for i8 {}

mod private {
    pub(crate) trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i32 {}
    impl Sealed for u16 {}
    impl Sealed for u8 {}
    impl Sealed for i8 {}
}

/// A zeroed, cache-line-aligned slice that only grows.
pub(crate) struct Buffer<T: Plain> {
    lines: Vec<Line>,
    length: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    pub(crate) fn new(length: usize) -> Self {
        let lines = vec![Line([0; 64]); (length * size_of::<T>()).div_ceil(64)];
        Buffer { lines, length, kind: std::marker::PhantomData }
    }

    /// Makes room for `length` elements, zeroed when the old ones did not suffice.
    pub(crate) fn reserve(&mut self, length: usize) {
        if self.length < length {
            *self = Buffer::new(length);
        }
    }
}

impl<T: Plain> Default for Buffer<T> {
    fn default() -> Self {
        Buffer::new(0)
    }
}

impl<T: Plain> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `length` elements, are initialised, aligned to 64, and every bit
        // pattern is a `T`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl<T: Plain> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_cache_line_and_is_zeroed() {
        let mut buffer = Buffer::<f32>::new(5);
        assert_eq!(buffer.as_ptr().align_offset(64), 0);
        assert_eq!(&buffer[..], &[0.0; 5]);
        buffer[4] = 2.0;
        buffer.reserve(4);
        assert_eq!(buffer[4], 2.0);
        buffer.reserve(100);
        assert_eq!((buffer.len(), buffer[4]), (100, 0.0));
    }
}
