//! Provider names in the current OpenTelemetry spelling.

/// The current name of a provider, lower case; none for an empty name.
///
/// Renamed providers get their new name, the API that the Vercel AI SDK appends (`openai.chat`) is cut off, and a name
/// that nobody knows stays as it is.
pub(super) fn current(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    if name.is_empty() {
        return None;
    }
    let found = known(&name).or_else(|| {
        let (vendor, api) = name.split_once('.')?;
        const APIS: &[&str] = &[
            "chat",
            "completion",
            "responses",
            "embedding",
            "messages",
            "image",
            "speech",
            "transcription",
            "rerank",
        ];
        APIS.contains(&api).then(|| known(vendor).unwrap_or(vendor))
    });
    Some(found.unwrap_or(&name).to_owned())
}

fn known(name: &str) -> Option<&'static str> {
    Some(match name {
        "openai" => "openai",
        "anthropic" => "anthropic",
        "az.ai.openai" | "azure" | "azure_openai" | "azure-openai" | "azureopenai" => "azure.ai.openai",
        "az.ai.inference" | "azure_ai" | "azure-ai" => "azure.ai.inference",
        "aws" | "bedrock" | "amazon-bedrock" | "amazon_bedrock" | "aws_bedrock" => "aws.bedrock",
        "vertex_ai" | "vertexai" | "google_vertexai" | "google.vertex" | "google.vertex.chat" => {
            "gcp.vertex_ai"
        }
        "gemini" | "googleai" | "google_genai" | "google.generative-ai" => "gcp.gemini",
        "google" => "gcp.gen_ai",
        "mistral" | "mistralai" => "mistral_ai",
        "xai" => "x_ai",
        "watsonx" => "ibm.watsonx.ai",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::current;

    #[test]
    fn old_and_vendor_spellings_become_current_ones() {
        for (old, new) in [
            ("OpenAI", "openai"),
            ("openai.chat", "openai"),
            ("anthropic.messages", "anthropic"),
            ("az.ai.openai", "azure.ai.openai"),
            ("vertex_ai", "gcp.vertex_ai"),
            ("gemini", "gcp.gemini"),
            ("xai.chat", "x_ai"),
            ("xai", "x_ai"),
            ("aws.bedrock", "aws.bedrock"),
            ("my-gateway", "my-gateway"),
        ] {
            assert_eq!(current(old).as_deref(), Some(new));
        }
        assert_eq!(current(" "), None);
    }
}
