//! The packages for Python and for TypeScript as they would be published: built by their own tools, installed from the built file
//! into a place where nothing else is, and run from there in all three forms.

use super::languages::{Server, groundline, scores};
use super::{file, program};
use crate::sdk::{node_modules, python};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a command to its end, which must be a good one.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{error}");
    out.trim().to_owned()
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The only file of `folder` that ends in `end`.
fn only(folder: &Path, end: &str) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> =
        files.filter(|file| file.file_name().unwrap().to_str().unwrap().ends_with(end)).collect();
    assert_eq!(found.len(), 1, "{end}: {found:?}");
    found[0].clone()
}

/// Whether it is there; where it is not, this is not CI.
fn is_there(path: &Path) -> bool {
    if !path.exists() {
        assert!(std::env::var("CI").is_err(), "{} is not there: run tests/setup", path.display());
        eprintln!("{} is not there; run tests/setup for this test", path.display());
    }
    path.exists()
}

/// As a process, over HTTP, and over gRPC with these variables.
fn all_forms(program: &Path, arguments: &[&str], grpc: &[(&str, &str)]) {
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("{argument:?}")).collect();
    scores(&format!("command = [{program:?}, {}]", quoted.join(", ")));
    let command = || {
        let mut command = Command::new(program);
        command.args(arguments).env_remove("PYTHONPATH");
        command
    };
    let server = Server::start(command(), "--http");
    scores(&format!("url = {:?}", server.url));
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "sk-of-a-test\n").unwrap();
    let mut with_token = command();
    with_token.arg("--token-file").arg(&token).envs(grpc.iter().copied());
    let server = Server::start(with_token, "--grpc");
    assert!(server.url.starts_with("grpc://"), "{}", server.url);
    scores(&format!("url = {:?}\nsecret_file = {token:?}\nconcurrency = 2", server.url));
}

/// An evaluator whose rationale is what it was given, in both languages.
const TOLD_PY: &str = "import json
from groundline_evaluator import Score, evaluator
@evaluator(version='1')
def told(answer, question=None, contexts=None, expected=None, expected_answers=None, expected_documents=None, constraints=None,
         system_prompt=None, history=None, tenant=None, steps=None):
    return Score(1.0, rationale=json.dumps(locals()))
";
const TOLD_JS: &str = "import { evaluator } from 'groundline-evaluator';
const others = ['question?', 'contexts?', 'expected?', 'expected_answers?', 'expected_documents?', 'constraints?', 'system_prompt?', 'history?', 'tenant?', 'steps?'];
export const told = evaluator(
  { name: 'told', version: '1', inputs: ['answer', ...others] },
  (inputs) => ({ value: 1, rationale: JSON.stringify(inputs) }),
);
";

/// What the evaluator in `told` is given of a full line and of one with an answer alone is the same in every form.
fn the_same_is_given(program: &Path, told: &Path, grpc: &[(&str, &str)]) {
    let contexts = json!([{"id": "c", "uri": "file:c", "text": "Large.", "rank": 2, "score": 0.5, "tenant": "t"}, "Plain."]);
    let lines = [
        json!({"answer": "A", "question": "Q", "contexts": contexts, "expected": "E", "expected_answers": ["E", "F"],
               "expected_documents": ["c", "d"],
               "constraints": ["x", ["y", "REGEXP:z"]], "system_prompt": "S", "history": ["user: H"], "tenant": "t",
               "steps": [{"tool": "find", "arguments": {"q": "x"}, "result": "none", "failed": true}, {"tool": "look"}]}),
        json!({"answer": "alone"}),
    ];
    let given = |plugin: &str| -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("groundline.toml");
        fs::write(&config, format!("[[plugins]]\nname = \"told\"\n{plugin}\n")).unwrap();
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let config = config.to_str().unwrap();
        let done = groundline(&["score", "--evaluator", "plugin/told", "--config", config], &input);
        assert!(done.status.success(), "{plugin}: {}", String::from_utf8_lossy(&done.stderr));
        let rows = String::from_utf8_lossy(&done.stdout).into_owned();
        let rationale = |row: &str| {
            let row: Value = serde_json::from_str(row).unwrap();
            serde_json::from_str(row["rationale"].as_str().unwrap_or_else(|| panic!("{row}"))).unwrap()
        };
        rows.lines().map(rationale).collect()
    };
    let process = given(&format!("command = [{program:?}, {told:?}]"));
    assert_eq!((process.len(), &process[0]["constraints"][1][0]), (2, &json!("y")), "{process:?}");
    assert_eq!(process[0]["expected_answers"], json!(["E", "F"]));
    assert_eq!(
        (&process[0]["contexts"][0]["score"], &process[0]["history"][0]),
        (&json!(0.5), &json!("user: H"))
    );
    assert_eq!(
        process[0]["steps"],
        json!([{"tool": "find", "arguments": "{\"q\":\"x\"}", "result": "none", "failed": true},
               {"tool": "look", "arguments": null, "result": null, "failed": false}])
    );
    for way in ["--http", "--grpc"] {
        let mut command = Command::new(program);
        command.arg(told).env_remove("PYTHONPATH").envs(grpc.iter().copied());
        let server = Server::start(command, way);
        assert_eq!(given(&format!("url = {:?}", server.url)), process, "{way}");
    }
}

#[test]
fn the_package_for_python_is_built_installed_and_run() {
    let builder = python();
    if !is_there(&builder) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, fresh) = (folder.path().join("source"), folder.path().join("fresh"));
    copied(&file("plugins/python"), &source);
    let dist = source.join("dist");
    done(
        Command::new(&builder)
            .args(["-m", "build", "--no-isolation", "--outdir", "dist"])
            .current_dir(&source),
    );
    only(&dist, ".tar.gz");
    done(Command::new(&builder).args(["-m", "venv", "--without-pip"]).arg(&fresh));
    let own = fresh.join("bin/python");
    let mut install = Command::new(&builder);
    install.args(["-m", "pip", "--python"]).arg(&own).args(["install", "--quiet", "--no-index", "--no-deps"]);
    done(install.arg(only(&dist, ".whl")));
    let told = "import importlib.metadata as m; d = m.metadata('groundline-evaluator'); \
                print(d['Version'], d['License-Expression'], d['License-File'], *d.get_all('Provides-Extra'), \
                sum(f.name == 'py.typed' for f in m.files('groundline-evaluator')))";
    let run = |text: &str| done(Command::new(&own).args(["-I", "-c", text]));
    assert_eq!(run(told), "0.1.0 Apache-2.0 LICENSE grpc 1");
    let example = file("plugins/python/examples/tone.py");
    let libraries =
        done(Command::new(&builder).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]));
    let command = fresh.join("bin/groundline-evaluator");
    all_forms(&command, &[example.to_str().unwrap()], &[("PYTHONPATH", libraries.as_str())]);
    let told = folder.path().join("told.py");
    fs::write(&told, TOLD_PY).unwrap();
    the_same_is_given(&command, &told, &[("PYTHONPATH", libraries.as_str())]);
    // What is missing is named, with what to do.
    let refused: Output =
        Command::new(&command).arg(&example).args(["--grpc", "0"]).env_remove("PYTHONPATH").output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && told.contains("pip install 'groundline-evaluator[grpc]'"), "{told}");
}

#[test]
fn the_package_for_typescript_is_packed_installed_and_run() {
    let (Some(npm), Some(_)) = (program("npm"), program("node")) else { return };
    if !is_there(&node_modules().join("@grpc/grpc-js")) {
        return;
    }
    let (folder, nothing) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let packed = done(
        Command::new(&npm)
            .args(["pack", "--silent", "--pack-destination"])
            .arg(folder.path())
            .current_dir(file("plugins/typescript")),
    );
    let packed = folder.path().join(packed);
    // Beside what gRPC needs, which is looked for in the folders above, and where nothing is above.
    let beside = tempfile::tempdir_in(node_modules().parent().unwrap()).unwrap();
    for place in [beside.path(), nothing.path()] {
        fs::write(place.join("package.json"), "{\"private\": true}").unwrap();
        let mut install = Command::new(&npm);
        install.args(["install", "--silent", "--offline", "--no-audit", "--no-fund"]).arg(&packed);
        done(install.current_dir(place));
        fs::copy(file("plugins/typescript/examples/tone.js"), place.join("tone.mjs")).unwrap();
    }
    let installed = beside.path().join("node_modules/groundline-evaluator");
    for name in ["LICENSE", "README.md", "index.d.ts"] {
        assert!(installed.join(name).exists(), "{name}");
    }
    let command = |place: &Path| place.join("node_modules/.bin/groundline-evaluator");
    let example = beside.path().join("tone.mjs");
    all_forms(&command(beside.path()), &[example.to_str().unwrap()], &[]);
    let told = beside.path().join("told.mjs");
    fs::write(&told, TOLD_JS).unwrap();
    the_same_is_given(&command(beside.path()), &told, &[]);
    let mut alone = Command::new(command(nothing.path()));
    let refused = alone.arg(nothing.path().join("tone.mjs")).args(["--grpc", "0"]).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("npm install @grpc/grpc-js @grpc/proto-loader"),
        "{told}"
    );
    let compiler = file("console/node_modules/.bin/tsc");
    if is_there(&compiler) {
        fs::copy(file("tests/plugins/types.ts"), beside.path().join("types.mts")).unwrap();
        let mut check = Command::new(compiler);
        check.args([
            "--noEmit",
            "--strict",
            "--module",
            "nodenext",
            "--target",
            "es2023",
            "--types",
            "",
            "types.mts",
        ]);
        done(check.current_dir(beside.path()));
    }
}

#[test]
fn what_packages_have_of_this_repository_is_the_same() {
    let same = |one: &str, other: &str| {
        assert!(fs::read(file(one)).unwrap() == fs::read(file(other)).unwrap(), "{one} and {other} differ");
    };
    same("LICENSE", "plugins/python/LICENSE");
    same("LICENSE", "plugins/typescript/LICENSE");
    same("proto/groundline/evaluator/v1/evaluator.proto", "plugins/typescript/evaluator.proto");
    let python = python();
    if is_there(&python) {
        // Names of members in JSON follow from the others.
        let script = "import sys; from google.protobuf import descriptor_pb2 as d; from groundline_evaluator import _pb2
made = d.FileDescriptorProto(); _pb2.DESCRIPTOR.CopyToProto(made)
kept = d.FileDescriptorSet.FromString(open(sys.argv[1], 'rb').read()).file[0]
for file in (made, kept):
    for message in file.message_type:
        for field in message.field: field.ClearField('json_name')
assert made == kept, 'make _pb2.py anew, as it says'";
        let mut command = Command::new(python);
        command.args(["-c", script]).arg(file("tests/fixtures/plugin/evaluator.binpb"));
        done(command.env("PYTHONPATH", file("plugins/python")));
    }
}
