//! Each family: a right value, one that is not quite, one that only looks alike.

use super::{ENGINE, find};
use crate::detect::tests::worked;

fn kinds(text: &str) -> Vec<&'static str> {
    find(text).into_iter().map(|f| f.kind).collect()
}

/// A value made of `pattern`'s characters in turn, `n` long.
fn fill(pattern: &str, n: usize) -> String {
    pattern.chars().cycle().take(n).collect()
}

#[test]
fn every_shape_compiles() {
    for shape in ENGINE.shapes.iter().map(|c| c.shape) {
        assert!(
            shape.kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
            "{}",
            shape.kind
        );
    }
}

#[test]
fn keys_by_their_prefix() {
    let mixed = |n| fill("aB3dE6gH9kLm", n);
    let hex = |n| fill("0a1b2c3d4e5f", n);
    for (kind, value) in [
        ("aws_access_key_id", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("openai_api_key", "sk-test-FAKE0000000000000000000000000000000000000000".to_owned()),
        ("openai_api_key", format!("sk-proj-{}", mixed(48))),
        ("anthropic_api_key", format!("sk-ant-api03-{}", mixed(93))),
        ("github_token", format!("ghp_{}", mixed(36))),
        ("github_fine_grained_token", format!("github_pat_{}_{}", mixed(22), mixed(59))),
        ("gitlab_token", format!("glpat-{}", mixed(20))),
        ("slack_token", format!("xoxb-123456789012-123456789012-{}", mixed(24))),
        ("google_api_key", format!("AIza{}", mixed(35))),
        ("google_api_key", format!("AQ.Ab8RN6{}", mixed(44))),
        ("slack_token", format!("xoxc-123456789012-123456789012-{}", mixed(24))),
        ("slack_token", format!("xoxd-{}%2B{}%3D", mixed(20), mixed(20))),
        ("aws_bedrock_key", format!("ABSKQmVkcm9ja0FQSUtleS1{}=", mixed(110))),
        ("aws_bedrock_key", format!("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{}", mixed(80))),
        ("aws_session_token", format!("IQoJb3JpZ2luX2Vj{}==", mixed(900))),
        ("azure_api_key", format!("{}JQQJ99AKACHYHv6XJ3w3AAAAACOG0sUE", mixed(52))),
        ("azure_devops_token", format!("{}JQQJ99BCACAAAAAZg6lNAAASAZDO1Vba", mixed(52))),
        ("stripe_key", format!("sk_live_{}", mixed(24))),
        ("twilio_key", format!("SK{}", hex(32))),
        ("sendgrid_key", format!("SG.{}.{}", mixed(22), mixed(43))),
        ("npm_token", format!("npm_{}", mixed(36))),
        ("pypi_token", format!("pypi-AgEIcHlwaS5vcmc{}", mixed(60))),
        ("huggingface_token", format!("hf_{}", mixed(34))),
        ("databricks_token", format!("dapi{}", hex(32))),
        ("digitalocean_token", format!("dop_v1_{}", hex(64))),
        ("telegram_bot_token", format!("123456789:A{}", mixed(34))),
        ("shopify_token", format!("shpat_{}", hex(32))),
        ("mailgun_key", format!("key-{}", hex(32))),
        ("square_token", format!("sq0atp-{}", mixed(22))),
        ("azure_storage_key", format!("AccountKey={}==", mixed(86))),
        ("slack_webhook", format!("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{}", mixed(24))),
        ("h2o_api_key", format!("H2OGPTE_API_KEY={}", mixed(48))),
    ] {
        assert_eq!(kinds(&format!("It is {value}.")), [kind], "{value}");
    }
}

#[test]
fn a_prefix_alone_is_no_key() {
    for text in [
        "AKIA0000",
        "AQ.About-the-questions-that-nobody",
        "bedrock-api-key-policies-of-the-whole-organisation-in-2026",
        "sk-learn-is-a-library-for-machine-learning-in-python",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xoxb-your-token-here-please",
        "the AIzaSy prefix",
        "hf_hub_download_and_cache_the_file_now_please",
        "risk-assessment-of-the-whole-portfolio-in-2024-and-2025",
        "sk_live_",
        "https://example.org/sk-learn-pipelines-explained-in-10-minutes-or-so",
        "live_video_stream_quality_metrics_aggregated_daily",
        "YC-backed-startups-that-are-hiring-right-now-in-town",
        "00-introduction-to-the-command-line-for-us",
        "pa-dutch-country-attractions-for-families-and-kids",
    ] {
        assert_eq!(kinds(text), [""; 0], "{text}");
    }
}

#[test]
fn structures() {
    let body = fill("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 200);
    assert_eq!(
        kinds(&format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----")),
        ["private_key"]
    );
    assert_eq!(
        kinds(&format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----")),
        ["certificate"]
    );
    assert_eq!(kinds(&format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----")), [""; 0]);
    assert_eq!(kinds("a file that begins with -----BEGIN PRIVATE KEY-----"), [""; 0]);
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    assert_eq!(kinds(jwt), ["jwt"]);
    assert_eq!(kinds(&jwt.replace("hbGci", "hcGci")), [""; 0], "a header without alg");
    let claims = format!(
        "eyJ{}.{}",
        fill("abcdefghijklmnopqrstuvwxyz0123456789", 60),
        fill("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 43)
    );
    assert_eq!(kinds(&format!("eyJhbGciOiJIUzI1NiJ9.{claims}")), ["jwt"]);
    for header in [
        "eyJhbGciOiJIUzI1NiJ9X",
        "eyJabcdefghijklmnopqrstuvwx",
        "eyJraWQiOiJhYmNkZWZnaCJ9",
        "eyJhbGciOjI1NiwiYiI6MTIzfQ",
    ] {
        assert_eq!(
            kinds(&format!("{header}.{claims}")),
            [""; 0],
            "{header} is no JSON object with a text alg"
        );
    }
    assert_eq!(kinds("VK7JG-NPHTM-C97JM-9MPGT-3V66T"), ["windows_activation_key"]);
    assert_eq!(kinds("VK7JG-NPHTM-C97JM-9MPGT"), [""; 0]);
    assert_eq!(kinds("AAAAA-EEEEE-IIIII-OOOOO-UUUUU"), [""; 0]);
}

#[test]
fn headers_without_the_rest_of_a_token_are_read_once() {
    let shape = ENGINE.shapes.iter().find(|c| c.shape.hints == ["eyJ"]).expect("a shape of tokens");
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    let text = format!("{} {jwt}", "eyJ-".repeat(2_000));
    assert_eq!(shape.look(&text, (0, 3), 0, &mut Vec::new()), 8_000, "no hint in it is tried again");
    assert!(kinds(&text).contains(&"jwt"));
    // A short one is: what follows may be a token.
    assert_eq!(shape.look("eyJ-eyJ-eyJ-", (0, 3), 0, &mut Vec::new()), 0);
    assert!(kinds(&format!("eyJ-{jwt}")).contains(&"jwt"));
}

#[test]
fn the_private_lines_of_putty() {
    let body = fill("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 200);
    let head = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: jane\nPublic-Lines: 4\n";
    let lines = format!("{body}\nPrivate-Lines: 4\n{body}\nPrivate-MAC: 0a1b");
    // The head may have been cut off.
    for text in [format!("{head}{lines}"), lines] {
        let found = find(&text);
        let key = found.iter().find(|f| f.kind == "private_key").expect("is found");
        assert!(text[key.start..key.end].contains(body.trim_end()), "{key:?} in {text}");
    }
    assert!(!kinds("Private-Lines: 4\nsee below").contains(&"private_key"));
}

#[test]
fn connection_strings() {
    for text in [
        "postgres://app:s3cr3t99@db.internal:5432/x",
        "mongodb+srv://u:Tr0ub4dor@cluster0.mongodb.net",
        "redis://:p4ssw0rd99@cache:6379",
        "https://jane:hunter22x@example.org/path",
    ] {
        assert_eq!(kinds(text), ["url_password"], "{text}");
    }
    let ado = "Server=db;Database=x;User Id=sa;Password=Str0ngPw;";
    assert_eq!(kinds(ado), ["connection_string_password"]);
    for text in [
        "postgres://app:${DB_PASSWORD}@db/x",
        "postgres://user:password@localhost/x",
        "https://example.org:8080/@scope/package",
        "Server=db;Password=<password>;",
    ] {
        assert_eq!(kinds(text), [""; 0], "{text}");
    }
}

#[test]
fn values_beside_key_words() {
    for text in [
        "api_key = \"f3b1c0d9e8a74b6f9d2e\"",
        "\"client_secret\": \"Zx81kQp0LmN4vT7wYb2c\"",
        "The token is 9fK2lQ8sZx71mVb4Tn6R",
        "password: hunter2!x",
        "export DB_PASSWORD='S0me-Pass'",
        "--token AIhq5Xyb1Gga9Q5zz",
    ] {
        assert_eq!(kinds(text).len(), 1, "{text}");
    }
    let aws = "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    assert_eq!(kinds(aws), ["aws_secret_access_key"]);
}

#[test]
fn a_long_value_is_found_to_its_end() {
    let token = fill("aB3dE6gH9kLm", 3_000);
    let text = format!("{{\"session_token\": \"{token}\", \"region\": \"eu\"}}");
    let found = find(&text);
    assert_eq!(found.iter().map(|f| &text[f.start..f.end]).collect::<Vec<_>>(), [token]);
}

#[test]
fn files_and_commands_of_systems() {
    for (kind, text) in [
        ("wireguard_key", "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="),
        ("netrc_password", "machine api.example.org login jane password s3cr3tP4ss"),
        ("sql_password", "CREATE USER jane IDENTIFIED BY 'Tr0ub4dor'"),
        ("powershell_password", "ConvertTo-SecureString 'P@ssw0rd1x' -AsPlainText -Force"),
        ("docker_auth", "{\"auths\":{\"x\":{\"auth\":\"amFuZTpodW50ZXIyMg==\"}}}"),
        ("command_line_password", "psexec \\\\host -u jane -p Winter24x cmd"),
        ("command_line_password", "mysql -u root -pWinter24x shop"),
        ("password_hash", "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9gQaB3dE6gH9kLm"),
        ("password_hash", "$P$BnZq3W6ph5Mm5Pz8GgiULbPgzG37mj9"),
        ("password", "<password>hunter2!x</password>"),
        ("password", "<add key=\"Password\" value=\"Winter24x\" />"),
    ] {
        assert!(kinds(text).contains(&kind), "{text}: {:?}", kinds(text));
    }
    for text in [
        "mysql -u root -p shop",
        "machine learning login page password field",
        "identified by 'name'",
        "{SHA} is a hash",
    ] {
        assert!(kinds(text).is_empty(), "{text}: {:?}", kinds(text));
    }
}

#[test]
fn keys_beside_the_name_of_their_service() {
    for text in [
        "pagerduty f83fd3e21d85f7ded186c9c72bce5038",
        "SPOTIFY_CLIENT_SECRET = \"9f0c2a7b1d3e4f5a6b7c8d9e0f1a2b3c\"",
        "urlscan-access-7654ba98-1e11-3279-2cff-d5f31f9ab9cd",
        "shared-access-token-7654ba98-1e11-3279-2cff-d5f31f9ab9cd",
    ] {
        assert_eq!(kinds(text).len(), 1, "{text}: {:?}", kinds(text));
    }
    for text in [
        "on twitter 1164519151219761154Retweet",
        "https://github.com/groundline/groundline/blob/9fceb02d0ae598e95dc970b74767f19372d61af8/README.md",
        "spotify playlist of 2024-05-17T12:30:45",
        "Trello, Asana and Jira are used by 12345 teams",
        "heroku.com/apps/f83fd3e21d85f7ded186c9c72bce5038",
        "the gitlab-runner-12.10.0-linux-amd64-rc1 package",
    ] {
        assert_eq!(kinds(text), [""; 0], "{text}");
    }
}

#[test]
fn hard_negatives() {
    for text in [
        "api_key = \"your-api-key\"",
        "token: <token>",
        "password = ${DB_PASSWORD}",
        "secret: changeme",
        "password = os.environ['DB_PASSWORD']",
        "SECRET = getenv(\"NAME12345678\", '')",
        "request_id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "\"integrity\": \"sha512-88sp/WiEDaYCeFmzae7gZECf0Hft7c9nmxsuPnWajdkjgL6YaAdx6ApA2olTmlEmlVJMNLs/QyakjfoBX60Akc==\"",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "public_key = \"9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit\"",
        "key_length=2048 token_count=5661551288",
        "The key to success is patience, and the secret of it is practice.",
        "Pass the salt. Passengers must keep their tokens.",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCOiwy0NSpsTX/zPFlpzW3x",
    ] {
        assert_eq!(kinds(text), [""; 0], "{text}");
    }
}

#[test]
fn cost_is_linear_on_hostile_text() {
    for piece in [
        "key=",
        "sk-",
        "eyJa.",
        "eyJ-",
        "PuTTY-User-Key-File-2:",
        "Private-Lines: 1 ",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "password",
        "AKIA",
        "ghp_a",
        "S",
        "user=;",
    ] {
        let text = piece.repeat(50_000 / piece.len());
        let begin = worked();
        let _ = find(&text);
        let took = worked() - begin;
        assert!(took.as_secs_f64() < 8.0, "{piece:?} took {took:?}");
    }
}
