//! Protobuf's wire format, field by field, without copying.

/// The bytes need the general decoder: they are damaged, or use what the direct way does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unusual;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wire<'a> {
    /// A variable-length integer.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Bytes, text or a message.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32(u32),
}

impl<'a> Wire<'a> {
    /// The bytes of this field.
    pub(super) fn bytes(self) -> Result<&'a [u8], Unusual> {
        if let Wire::Bytes(bytes) = self { Ok(bytes) } else { Err(Unusual) }
    }

    /// The text of this field.
    pub(super) fn text(self) -> Result<&'a str, Unusual> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Unusual)
    }

    /// The integer of this field.
    pub(super) fn varint(self) -> Result<u64, Unusual> {
        if let Wire::Varint(number) = self { Ok(number) } else { Err(Unusual) }
    }

    /// The low half of the integer of this field, as protobuf reads 32-bit fields.
    pub(super) fn varint32(self) -> Result<u32, Unusual> {
        self.varint().map(|number| number as u32)
    }

    /// The eight bytes of this field.
    pub(super) fn fixed64(self) -> Result<u64, Unusual> {
        if let Wire::Fixed64(number) = self { Ok(number) } else { Err(Unusual) }
    }

    /// The four bytes of this field.
    pub(super) fn fixed32(self) -> Result<u32, Unusual> {
        if let Wire::Fixed32(number) = self { Ok(number) } else { Err(Unusual) }
    }
}

/// The fields of one message, in the order of the wire.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>), Unusual>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            // What is left cannot be read; one error ends the message.
            self.0 = &[];
        }
        Some(field.ok_or(Unusual))
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u32, Wire<'a>)> {
        let tag = u32::try_from(self.varint()?).ok()?;
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(u64::from_le_bytes(*self.take_array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(*self.take_array()?)),
            // Groups: no message of OTLP has one.
            _ => return None,
        };
        Some((number, wire))
    }

    fn take_array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for (at, &byte) in self.0.iter().enumerate().take(10).skip(1) {
            // The tenth byte holds one bit.
            if at == 9 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for value in [0u64, 1, 127, 128, 300, 1 << 35, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            prost::encoding::uint64::encode(3, &value, &mut bytes);
            let fields: Vec<_> = Fields(&bytes).collect();
            assert_eq!(fields, [Ok((3, Wire::Varint(value)))]);
        }
    }

    #[test]
    fn damaged_bytes_end_with_one_error() {
        for bytes in [&[0x08][..], &[0x12, 5, 1], &[0x09, 1, 2], &[0x00, 1], &[0x0b], &[0x08, 0xff, 0xff]] {
            let fields: Vec<_> = Fields(bytes).collect();
            assert_eq!(fields, [Err(Unusual)], "{bytes:?}");
        }
    }
}
