use serde::Deserialize;

use super::super::network::lanes;
use super::*;

#[derive(Deserialize)]
struct Expected {
    shapes: Vec<(usize, usize)>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
    mean_cross_entropy: Vec<Option<f64>>,
    ids_only: Vec<Option<f64>>,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perplexity").join(name)
}

fn opened(
    model: &Path,
    tokenizer: &Path,
    (window, stride): (usize, usize),
) -> Result<CausalModel, ModelError> {
    CausalModel::open(&CausalFiles { model, tokenizer, window, stride }, lanes(1))
}

fn refused(model: &Path, tokenizer: &Path, window: usize) -> String {
    opened(model, tokenizer, (window, 1)).err().unwrap().to_string()
}

/// Values of PyTorch for the same weights (`training/perplexity_fixture.py`), texts longer than the window included.
#[test]
fn agrees_with_the_reference() {
    let expected: Expected =
        serde_json::from_str(&std::fs::read_to_string(fixture("expected.json")).unwrap()).unwrap();
    let mut longer = 0;
    for (at, shape) in expected.shapes.iter().enumerate() {
        for (file, is_small) in [("model.onnx", false), ("ids_only.onnx", true)] {
            let model = opened(&fixture(file), &fixture("tokenizer.json"), *shape).unwrap();
            for case in &expected.cases {
                let want = if is_small { case.ids_only[at] } else { case.mean_cross_entropy[at] };
                let found = model.read(&case.text).unwrap();
                assert_eq!((found.tokens, found.is_cut), (case.ids.len(), false));
                assert_eq!(found.mean.is_some(), want.is_some(), "{:?}", case.text);
                let (found, want) = (found.mean.unwrap_or(0.0), want.unwrap_or(0.0));
                assert!((found - want).abs() < 1e-3, "{shape:?} {:?}: {found}, expected {want}", case.text);
                assert!((found.exp() / want.exp() - 1.0).abs() < 1e-3);
                longer += usize::from(case.ids.len() > shape.0);
            }
        }
    }
    assert!(longer > 50, "{longer} texts were longer than their window");
}

#[test]
fn each_token_but_the_first_is_counted_once_with_its_context() {
    for tokens in 0..40 {
        for window in 2..12 {
            for stride in 1..window {
                let found = windows(tokens, window, stride);
                let counted: Vec<usize> = found.iter().flat_map(|w| w.counted.clone()).collect();
                assert_eq!(counted, (1..tokens).collect::<Vec<_>>());
                for (at, part) in found.iter().enumerate() {
                    assert!(part.read.len() <= window && part.read.end == part.counted.end);
                    let before = part.counted.start - part.read.start;
                    assert_eq!(before, if at == 0 { 1 } else { window - stride });
                }
            }
        }
    }
}

#[test]
fn cross_entropy_by_the_formula() {
    assert!((cross_entropy(&[0.0; 4], 2).unwrap() - 4f64.ln()).abs() < 1e-12);
    assert!((cross_entropy(&[1_000.0, 0.0], 1).unwrap() - 1_000.0).abs() < 1e-9);
    assert!(cross_entropy(&[1_000.0, 0.0], 0).unwrap().abs() < 1e-9);
    for odd in [[f32::NAN, 0.0], [f32::INFINITY, 0.0], [f32::NEG_INFINITY; 2]] {
        assert_eq!(cross_entropy(&odd, 0), None);
    }
    assert_eq!(cross_entropy(&[0.0; 4], 4), None);
}

#[test]
fn the_least_expected_passage_is_quoted() {
    let model = opened(&fixture("model.onnx"), &fixture("tokenizer.json"), (64, 32)).unwrap();
    let text = "The museum opens at nine in the morning and closes at five. ".repeat(3);
    let found = model.read(&text).unwrap();
    let (passage, mean) = found.worst.unwrap();
    assert!(!passage.is_empty() && passage.len() < text.len() / 2 && text.contains(&passage), "{passage:?}");
    assert!(mean > found.mean.unwrap());
    let short = model.read("Yes.").unwrap();
    assert_eq!(short.worst.unwrap().1, short.mean.unwrap());
    assert_eq!(worst(&[]), None);
    let mut losses = vec![1.0; 50];
    losses[20..20 + PASSAGE].fill(2.0);
    assert_eq!(worst(&losses), Some((20, 2.0)));
}

#[test]
fn long_texts_are_cut_and_it_is_told() {
    let model = opened(&fixture("ids_only.onnx"), &fixture("tokenizer.json"), (64, 63)).unwrap();
    let found = model.read(&"The museum opens. ".repeat(1_000)).unwrap();
    assert_eq!((found.tokens, found.is_cut), (MAX_CAUSAL_TOKENS, true));
    assert!(found.mean.is_some_and(f64::is_finite));
}

#[test]
fn files_that_do_not_fit_are_refused_with_their_key() {
    let (model, tokenizer) = (fixture("model.onnx"), fixture("tokenizer.json"));
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere.onnx");
    let missing = refused(&nowhere, &tokenizer, 8);
    assert!(missing.contains("eval.perplexity.model") && missing.contains("cannot be read"), "{missing}");
    assert!(refused(&model, &nowhere, 8).contains("eval.perplexity.tokenizer"));

    let damaged = folder.path().join("damaged.onnx");
    let whole = std::fs::read(&model).unwrap();
    for kept in [0, 1, 100, whole.len() / 2, whole.len() - 10] {
        std::fs::write(&damaged, &whole[..kept]).unwrap();
        let error = refused(&damaged, &tokenizer, 8);
        assert!(error.contains("eval.perplexity.model") && error.contains("damaged.onnx"), "{kept}: {error}");
    }
    std::fs::write(&damaged, "no model at all").unwrap();
    assert!(refused(&damaged, &tokenizer, 8).contains("damaged.onnx"));

    assert!(refused(&fixture("with_past.onnx"), &tokenizer, 8).contains("past_key_values.0.key"));
    assert!(refused(&model, &tokenizer, 65).contains("eval.perplexity.window = 65"));
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/minilm-l6-v2/model.onnx");
    assert!(refused(&other, &tokenizer, 8).contains("token_type_ids"));
}

#[test]
fn another_vocabulary_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let larger = folder.path().join("tokenizer.json");
    let text = std::fs::read_to_string(fixture("tokenizer.json")).unwrap();
    let added = text.replacen("\"added_tokens\":[", "\"added_tokens\":[{\"id\":9000,\"content\":\"x\"},", 1);
    assert_ne!(added, text);
    std::fs::write(&larger, added).unwrap();
    let error = refused(&fixture("model.onnx"), &larger, 8);
    assert!(error.contains("340") && error.contains("9001") && error.contains("not of one model"), "{error}");
}

#[test]
fn the_version_names_the_files_and_the_window() {
    let tokenizer = fixture("tokenizer.json");
    let version =
        |model: &str, shape| opened(&fixture(model), &tokenizer, shape).unwrap().version().to_owned();
    let first = version("model.onnx", (8, 4));
    assert_eq!(first, version("model.onnx", (8, 4)));
    assert!(first != version("model.onnx", (8, 5)) && first != version("ids_only.onnx", (8, 4)));
}
