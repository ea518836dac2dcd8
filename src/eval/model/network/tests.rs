use super::super::assets;
use super::super::stored::opened;
use super::super::wordpiece::{Keep, WordPiece};
use super::*;

#[test]
fn batches_keep_within_the_token_budget() {
    let lengths = [3, 3, 200, 256, 256, 256, 256, 256];
    let sequences: Vec<Sequence> = lengths.iter().map(|n| Sequence::single(vec![0; *n])).collect();
    let order: Vec<usize> = (0..sequences.len()).collect();
    let cut = batches(&order, &sequences);
    assert_eq!(cut.iter().map(|batch| batch.len()).sum::<usize>(), sequences.len());
    for batch in &cut {
        let longest = lengths[batch[batch.len() - 1]];
        assert!(batch.len() == 1 || batch.len() * longest <= BATCH_TOKENS);
        assert!(batch.len() == 1 || longest <= lengths[batch[0]] * 5 / 4 + PADDING_TOKENS);
    }
    let cut = packed_batches(&order, &sequences);
    assert_eq!(cut, [&[0, 1, 2][..], &[3], &[4], &[5], &[6], &[7]]);
}

/// The same weights in the graph runtime, and without padding in each way that this processor has.
fn engines(
    name: &'static str,
    file: &[u8],
    words: &'static [u8],
    output: &str,
) -> Option<(Network, Vec<Network>)> {
    let file = Bytes::copy_from_slice(file);
    let network = |mut packed: Packed| {
        packed.share_words(words);
        Network { name, engine: Engine::Packed(Box::new(packed)), lanes: lanes(1) }
    };
    let packed: Vec<Network> = Packed::each(name, &file).into_iter().map(network).collect();
    if packed.is_empty() {
        return None;
    }
    Some((Network::with_model(name, options().load(file.into()), output, lanes(1)).unwrap(), packed))
}

fn values(network: &Network, sequences: &[Sequence], each: usize) -> Vec<Vec<f32>> {
    network.run(sequences, |row, tokens| Ok(row.numbers[..each * tokens.max(1)].to_vec())).unwrap()
}

fn mean(hidden: &[f32]) -> Vec<f32> {
    (0..384).map(|at| hidden[at..].iter().step_by(384).sum()).collect()
}

#[test]
fn both_engines_give_the_same_vectors_and_a_text_stands_alone() {
    let Some((graph, packed)) = engines("encoder", assets::MINILM, &[], "last_hidden_state") else { return };
    let words = WordPiece::new(assets::MINILM_VOCABULARY).unwrap();
    let texts = [
        "A",
        "The invoice is due on Friday.",
        "",
        "Nine of the 214 steps were broken, and nobody had said so.",
    ];
    let sequences: Vec<Sequence> =
        texts.iter().map(|text| Sequence::single(words.encode(text, 256))).collect();
    let expected = values(&graph, &sequences, 384);
    for packed in packed {
        let found = values(&packed, &sequences, 384);
        for (found, expected) in found.iter().zip(&expected) {
            let [found, expected] = [mean(found), mean(expected)];
            let cosine = super::super::encoder::cosine(&found, &expected);
            assert!(cosine > 0.999, "{cosine}");
        }
        let alone = values(&packed, &sequences[1..2], 384);
        assert_eq!(alone[0], found[1]);
    }
}

#[test]
fn both_engines_give_the_same_logits() {
    let [(_, six), (_, twelve)] = assets::ENTAILMENT;
    for (name, weights, count) in
        [("six layers", six, 3), ("twelve layers", twelve, 3), ("relevance", assets::RELEVANCE, 2)]
    {
        let (file, words) = opened(name, weights).unwrap();
        let Some((graph, packed)) = engines(name, &file, words, "logits") else { return };
        packed.iter().for_each(|packed| agree(packed, &graph, count));
    }
}

fn agree(packed: &Network, graph: &Network, count: usize) {
    let words = WordPiece::new(assets::MINILM_VOCABULARY).unwrap();
    let pairs = [
        ("Tickets cost twelve euros. Children enter free.", "A ticket is 12 euros."),
        ("It is closed on Mondays.", "You can visit on Monday."),
    ];
    let sequence = |(first, second): &(&str, &str)| {
        let (ids, second) = words.encode_pair(first, second, 256, Keep::Beginning(128));
        Sequence { ids, second }
    };
    let sequences: Vec<Sequence> = pairs.iter().map(sequence).collect();
    let logits = |network: &Network| network.run(&sequences, |row, _| Ok(row.numbers.to_vec())).unwrap();
    for (found, expected) in logits(packed).iter().zip(&logits(graph)) {
        assert_eq!(found.len(), count);
        let far = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 0.3, "{found:?} {expected:?}");
    }
}

#[test]
fn what_is_no_encoder_is_left_to_the_graph_and_a_text_too_long_is_an_error() {
    assert!(Packed::open("damaged", &Bytes::from_static(b"no model")).is_none());
    assert!(Packed::open("damaged", &Bytes::from_static(&assets::MINILM[..1_000_000])).is_none());
    let Some((_, packed)) = engines("encoder", assets::MINILM, &[], "last_hidden_state") else { return };
    for packed in packed {
        let long = Sequence::single(vec![101; 513]);
        let error = packed.run(&[long], |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("513 tokens"), "{error}");
    }
}
