//! Curves as pictures.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;

/// Told apart with every kind of colour vision (Okabe and Ito 2008).
const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];

/// A named curve.
pub struct Curve {
    /// What the legend says.
    pub name: &'static str,
    /// In rising order of x; x above 0.
    pub points: Vec<(f64, f64)>,
}

/// The curves over a logarithmic x axis, y from 0.
pub fn draw(title: &str, x_name: &str, y_name: &str, curves: &[Curve]) -> String {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let low = all().map(|(x, _)| x.ln()).fold(f64::INFINITY, f64::min);
    let high = all().map(|(x, _)| x.ln()).fold(low + 1e-9, f64::max);
    let step = step(all().map(|(_, y)| *y).fold(0.0, f64::max));
    let top = (all().map(|(_, y)| *y).fold(step, f64::max) / step).ceil() * step;
    let x_at = |x: f64| LEFT + (x.ln() - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let y_at = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);
    let mut out = String::new();
    let mut put = |line: String| {
        // Writing to a text cannot fail.
        let _written = writeln!(out, "{line}");
    };
    put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">"
    ));
    put(format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>"));
    put(format!("<text x=\"{LEFT}\" y=\"20\" font-size=\"13\">{title}</text>"));
    for line in 0..=(top / step).round() as u32 {
        let y = f64::from(line) * step;
        let at = y_at(y);
        put(format!("<path d=\"M{LEFT} {at:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - RIGHT));
        put(format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{y}</text>", LEFT - 6.0, at + 4.0));
    }
    for (x, _) in curves.first().map_or(&[][..], |curve| &curve.points) {
        let (at, below) = (x_at(*x), HEIGHT - BOTTOM + 16.0);
        put(format!("<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{x}</text>"));
    }
    let (middle, end) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0);
    put(format!("<text x=\"{middle}\" y=\"{end}\" text-anchor=\"middle\">{x_name}</text>"));
    put(format!("<text x=\"{LEFT}\" y=\"{}\">{y_name}</text>", TOP - 6.0));
    for (at, (curve, colour)) in curves.iter().zip(COLOURS).enumerate() {
        let points: Vec<String> =
            curve.points.iter().map(|(x, y)| format!("{:.1},{:.1}", x_at(*x), y_at(*y))).collect();
        let line = points.join(" ");
        put(format!("<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"));
        let (x, y) = (WIDTH - RIGHT - 150.0, TOP + 12.0 + 18.0 * at as f64);
        put(format!("<path d=\"M{x} {}h20\" stroke=\"{colour}\" stroke-width=\"3\"/>", y - 4.0));
        put(format!("<text x=\"{}\" y=\"{y}\">{}</text>", x + 28.0, curve.name));
    }
    put("</svg>".to_owned());
    out
}

/// A round distance of about five lines up to `top`.
fn step(top: f64) -> f64 {
    let rough = (top / 5.0).max(1e-9);
    let ten = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|of| of * ten).into_iter().find(|step| *step >= rough).unwrap_or(10.0 * ten)
}
