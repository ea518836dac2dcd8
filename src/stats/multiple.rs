//! Several tests at once: p-values that hold a false-discovery rate (Benjamini and Hochberg 1995).

/// Each p-value adjusted, at the same place: the least rate of false discoveries at which it would be one. Of m values the
/// one of rank k becomes the least of p·m/k over its own and all higher ranks.
pub fn adjusted(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let count = values.len() as f64;
    let (mut out, mut least) = (vec![1.0; values.len()], 1.0_f64);
    for (at, place) in order.into_iter().enumerate() {
        let rank = count - at as f64;
        least = least.min(values[place] * count / rank);
        out[place] = least;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_over_higher_ranks_counts() {
        // By hand: 0.01·4/1, 0.02·4/2 = 0.04, 0.04·4/3, 0.05·4/4.
        let out = adjusted(&[0.04, 0.01, 0.05, 0.02]);
        for (got, wanted) in out.iter().zip([0.05, 0.04, 0.05, 0.04]) {
            assert!((got - wanted).abs() < 1e-12, "{out:?}");
        }
        assert!(adjusted(&[]).is_empty());
        assert_eq!(adjusted(&[0.3]), [0.3]);
    }
}
