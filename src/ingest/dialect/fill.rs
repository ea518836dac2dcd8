//! Whoever comes first wins.

/// Sets `slot` unless it is set.
pub(super) fn fill<T>(slot: &mut Option<T>, value: Option<T>) {
    if slot.is_none() {
        *slot = value;
    }
}
