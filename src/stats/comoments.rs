//! Weighted means, squares and products of pairs.

/// Collects pairs with weights, relative to the running means as Welford 1962 and Chan, Golub and LeVeque 1983 do: sums of
/// squares of large values would lose all digits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Comoments {
    weight: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Comoments {
    /// Adds a pair with the weight `weight` > 0.
    pub fn push(&mut self, x: f64, y: f64, weight: f64) {
        self.merge(&Self { weight, x, y, xx: 0.0, xy: 0.0, yy: 0.0 });
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        let weight = self.weight + other.weight;
        if weight <= 0.0 {
            return;
        }
        let share = other.weight / weight;
        let (dx, dy) = (other.x - self.x, other.y - self.y);
        self.xx += other.xx + dx * dx * self.weight * share;
        self.xy += other.xy + dx * dy * self.weight * share;
        self.yy += other.yy + dy * dy * self.weight * share;
        self.x += dx * share;
        self.y += dy * share;
        self.weight = weight;
    }

    /// The same pairs with `factor` times their weights.
    pub fn scaled(self, factor: f64) -> Self {
        let Self { weight, xx, xy, yy, .. } = self;
        Self { weight: weight * factor, xx: xx * factor, xy: xy * factor, yy: yy * factor, ..self }
    }

    /// The sum of the weights.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The weighted means of x and y.
    pub fn means(&self) -> (f64, f64) {
        (self.x, self.y)
    }

    /// Σw(x − a)(x − b).
    pub fn xx(&self, a: f64, b: f64) -> f64 {
        self.xx + self.weight * (self.x - a) * (self.x - b)
    }

    /// Σw(x − a)(y − b).
    pub fn xy(&self, a: f64, b: f64) -> f64 {
        self.xy + self.weight * (self.x - a) * (self.y - b)
    }

    /// Σw(y − a)(y − b).
    pub fn yy(&self, a: f64, b: f64) -> f64 {
        self.yy + self.weight * (self.y - a) * (self.y - b)
    }

    /// The six numbers of the state.
    pub fn parts(&self) -> [f64; 6] {
        [self.weight, self.x, self.y, self.xx, self.xy, self.yy]
    }

    /// The state that [`Comoments::parts`] gave.
    pub fn from_parts([weight, x, y, xx, xy, yy]: [f64; 6]) -> Self {
        Self { weight, x, y, xx, xy, yy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand_far_from_zero() {
        let pairs = [(1.0, 2.0, 1.0), (3.0, -1.0, 2.0), (4.0, 0.5, 0.5)];
        let far = 1e9;
        let mut all = Comoments::default();
        let mut later = Comoments::default();
        for (at, (x, y, w)) in pairs.iter().enumerate() {
            if at == 0 { &mut all } else { &mut later }.push(x + far, y + far, *w);
        }
        all.merge(&Comoments::from_parts(later.parts()));
        all.merge(&Comoments::default());
        let sum = |of: fn(f64, f64) -> f64| pairs.iter().map(|(x, y, w)| w * of(*x, *y)).sum::<f64>();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-5, "{a} is not {b}");
        near(all.weight(), 3.5);
        near(all.means().0 - far, sum(|x, _| x) / 3.5);
        near(all.xx(far, far + 1.0), sum(|x, _| x * (x - 1.0)));
        near(all.xy(far, far + 1.0), sum(|x, y| x * (y - 1.0)));
        near(all.yy(far, far), sum(|_, y| y * y));
        near(all.scaled(0.5).xy(far, far), sum(|x, y| x * y) / 2.0);
    }
}
