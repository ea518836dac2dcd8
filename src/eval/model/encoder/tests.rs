use super::super::network::lanes;
use super::*;

fn open(instances: usize) -> Encoder {
    let tokenizer = WordPiece::new(assets::MINILM_VOCABULARY).unwrap();
    Encoder::embedded(Arc::new(tokenizer), lanes(instances))
}

fn encoder() -> &'static Encoder {
    static ENCODER: std::sync::OnceLock<Encoder> = std::sync::OnceLock::new();
    ENCODER.get_or_init(|| open(2))
}

fn similarity(a: &str, b: &str) -> f32 {
    let vectors = encoder().embed(&[a, b]).unwrap();
    cosine(&vectors[0], &vectors[1])
}

/// The f32 model of the publisher gives these similarities; int8 may move them by 0.03.
#[test]
fn agrees_with_the_reference_model() {
    let pairs = [
        ("A man is playing a guitar.", "Someone plays the guitar.", REFERENCE[0]),
        ("The invoice is due on Friday.", "Payment must arrive by the end of the week.", REFERENCE[1]),
        ("How do I reset my password?", "The volcano erupted in 1902.", REFERENCE[2]),
        ("Paris is the capital of France.", "The capital city of France is Paris.", REFERENCE[3]),
    ];
    for (a, b, expected) in pairs {
        let found = similarity(a, b);
        assert!((found - expected).abs() < 0.03, "{a} | {b}: {found}, expected {expected}");
    }
}

const REFERENCE: [f32; 4] = [0.8406, 0.5509, 0.1146, 0.9710];

#[test]
fn vectors_have_length_one_and_the_order_of_the_texts() {
    let texts = ["one thing", "", "another thing entirely", "one thing"];
    let vectors = encoder().embed(&texts).unwrap();
    assert_eq!(vectors.len(), texts.len());
    for vector in &vectors {
        assert_eq!(vector.len(), EMBEDDING_DIM);
        assert!((vector.iter().map(|v| v * v).sum::<f32>() - 1.0).abs() < 1e-4);
    }
    assert_eq!(vectors[0], vectors[3]);
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    let mut reversed = open(1).embed(&backwards).unwrap();
    reversed.reverse();
    for (a, b) in vectors.iter().zip(&reversed) {
        assert!(cosine(a, b) > 0.99999, "the batch moved the vector: {}", cosine(a, b));
    }
}

#[test]
fn a_text_does_not_depend_on_its_batch() {
    let texts: Vec<String> =
        (0..60).map(|i| format!("Sentence {i} {}", "with several more words ".repeat(i % 7))).collect();
    let together = open(2).embed(&texts).unwrap();
    let alone = open(1);
    for (text, vector) in texts.iter().zip(&together).step_by(9) {
        let single = alone.embed(&[text]).unwrap().remove(0);
        assert!(cosine(vector, &single) > 0.99999, "{text}: {}", cosine(vector, &single));
    }
}

#[test]
fn a_long_text_is_cut_and_nothing_is_no_error() {
    let long = encoder().embed(&["word ".repeat(5_000), "word ".repeat(6_000)]).unwrap();
    assert_eq!(long[0], long[1]);
    assert!(encoder().embed::<&str>(&[]).unwrap().is_empty());
    assert_eq!(encoder().token_count("Hello, world!"), 4);
    assert_eq!(encoder().meaningful_tokens("Yes.", 3), 1);
}

#[test]
fn cosine_of_known_vectors() {
    assert_eq!(cosine(&[1.0, 0.0], &[2.0, 0.0]), 1.0);
    assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
    assert_eq!(cosine(&[1.0, 1.0], &[-1.0, -1.0]), -1.0);
    assert_eq!(cosine(&[0.0, 0.0], &[1.0, 1.0]), 0.0);
    let ramp: Vec<f32> = (0..11).map(|i| i as f32).collect();
    assert_eq!(dot(&ramp, &ramp), 385.0);
}
