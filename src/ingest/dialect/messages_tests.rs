use super::*;
use crate::domain::message::{answer_of, question_of, system_of, tool_calls_of};
use serde_json::json;

#[test]
fn every_shape_of_a_request_gives_the_same_conversation() {
    let lc = |class: &str, text: &str| json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": {"content": text}});
    let shapes = [
        json!([{"role": "system", "parts": [{"type": "text", "content": "Be kind."}]},
               {"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]),
        json!({"model": "m", "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Why?"}]}),
        json!({"messages": [[lc("SystemMessage", "Be kind."), lc("HumanMessage", "Why?")]]}),
        json!({"messages": [{"type": "system", "content": "Be kind."}, {"type": "human", "data": {"content": "Why?"}}]}),
        json!({"system": "Be kind.", "prompt": "Why?"}),
        json!({"model": "m", "system": [{"type": "text", "text": "Be kind."}], "messages": [{"role": "user", "content": "Why?"}]}),
        json!({"system": "Be kind.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]}),
        json!({"model": "m", "instructions": "Be kind.", "input": "Why?"}),
        json!({"model": "m", "instructions": "Be kind.", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Why?"}]}]}),
        json!({"args": [[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Why?"}]], "kwargs": {}}),
        json!({"inputs": {"messages": [lc("SystemMessage", "Be kind."), lc("HumanMessage", "Why?")]}, "tags": [], "kwargs": {}}),
        json!({"systemInstruction": {"parts": [{"text": "Be kind."}]}, "contents": [{"parts": [{"text": "Why?"}]}]}),
        json!({"model": "m", "contents": "Why?", "config": {"system_instruction": "Be kind."}}),
        json!({"tools": [], "messages": "[{\"role\":\"system\",\"content\":\"Be kind.\"},{\"role\":\"user\",\"content\":\"Why?\"}]"}),
    ];
    for shape in shapes {
        let found = input(&shape);
        assert_eq!(found.len(), 2, "{shape}");
        assert_eq!(question_of(&found).as_deref(), Some("Why?"), "{shape}");
        assert_eq!(system_of(&found).as_deref(), Some("Be kind."), "{shape}");
    }
}

#[test]
fn every_shape_of_a_response_gives_the_same_answer() {
    let shapes = [
        json!([{"role": "assistant", "parts": [{"type": "text", "content": "So."}], "finish_reason": "stop"}]),
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "So."}}]}),
        json!({"generations": [[{"text": "So.", "generation_info": {"finish_reason": "stop"}, "message":
            {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "So."}}}]]}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "So."}], "stop_reason": "stop"}),
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "So."}]}}]}),
        json!({"id": "r", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]}]}),
        json!([{"graph": null, "update": {"messages": [{"type": "ai", "data": {"content": "So."}}]}}]),
        json!({"message": {"role": "assistant", "blocks": [{"text": "So."}]}, "raw": {"choices": []}}),
        json!({"choices": [{"index": 0, "text": "So.", "finish_reason": "stop"}]}),
    ];
    for shape in shapes {
        let found = output(&shape);
        assert_eq!(found.len(), 1, "{shape}");
        assert_eq!(
            (found[0].role.as_str(), answer_of(&found).as_deref()),
            ("assistant", Some("So.")),
            "{shape}"
        );
        let reason = found[0].finish_reason.as_deref();
        assert_eq!(reason.is_some(), shape.to_string().contains("stop"), "{shape}");
    }
}

#[test]
fn tool_calls_and_results_survive_every_shape() {
    let shapes = [
        json!([{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
               {"role": "tool", "tool_call_id": "c", "content": "18"}]),
        json!([{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {"a": 1}}]},
               {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": {"type": "text", "value": "18"}}]}]),
        json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": "{\"a\":1}"}]},
               {"role": "user", "parts": [{"type": "tool_call_response", "id": "c", "name": "f", "result": "18"}]}]),
        json!([{"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}]},
               {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "18"}]}}]}]),
        json!([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"},
               {"type": "function_call_output", "call_id": "c", "output": "18"}]),
    ];
    for shape in shapes {
        let found = input(&shape);
        let roles: Vec<&str> = found.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["assistant", "tool"], "{shape}");
        let calls = tool_calls_of(&found);
        assert_eq!((calls[0].name.as_str(), &calls[0].arguments), ("f", &json!({"a": 1})), "{shape}");
        let want = Part::ToolResponse { id: Some("c".into()), response: json!("18") };
        assert_eq!(found[1].parts, [want], "{shape}");
        // What a tool said is nobody's question.
        assert_eq!(question_of(&found), None, "{shape}");
    }
}

#[test]
fn the_question_that_is_asked_now_comes_after_the_earlier_turns() {
    let history = json!([{"type": "human", "content": "First?"}, {"type": "ai", "content": "One."}]);
    for key in ["input", "question", "message"] {
        let found = input(&json!({key: "Second?", "chat_history": history}));
        assert_eq!((found.len(), question_of(&found).as_deref()), (3, Some("Second?")), "{key}");
        let told = json!({key: "Second?", "chat_history": history, "output": "Two."});
        assert_eq!(output(&told), [], "the earlier turns are no answer");
        assert!(has_history(&told));
    }
    let turns = json!([{"role": "user", "content": "First?"}, {"role": "assistant", "content": "One."}]);
    let found = input(&json!({"args": ["And then?", turns], "kwargs": {}}));
    assert_eq!((found.len(), question_of(&found).as_deref()), (3, Some("And then?")));
    let with_model = json!({"args": [turns, "gpt-4o"], "kwargs": {}});
    assert_eq!(question_of(&input(&with_model)).as_deref(), Some("First?"));
    let told_twice = json!({"input": "First?", "chat_history": [{"role": "user", "content": "First?"}]});
    assert_eq!(input(&told_twice).len(), 1);
    assert!(!has_history(&json!({"input": "First?", "chat_history": null})));
}

#[test]
fn items_of_the_responses_api_keep_their_calls() {
    let items = json!([
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "f", "input": "x"},
        {"type": "mcp_call", "id": "m", "name": "g", "arguments": "{}", "output": "18"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]}
    ]);
    let found = output(&json!({"id": "r", "output": items}));
    let names: Vec<String> = tool_calls_of(&found).into_iter().map(|call| call.name).collect();
    assert_eq!((names.join(" ").as_str(), answer_of(&found).as_deref()), ("f g", Some("So.")));
    let blocks =
        json!([{"type": "text", "text": "So."}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]);
    assert_eq!(tool_calls_of(&output(&blocks)).len(), 1);
}

#[test]
fn a_message_in_the_content_is_opened_and_what_a_tool_gave_is_not() {
    let body = json!({"content": {"parts": [{"text": "a"}]}});
    let Json::Object(body) = body else { panic!("it is one") };
    assert_eq!(from_role("user", &body).parts, [Part::Text("a".into())]);
    let want = Part::ToolResponse { id: None, response: json!({"parts": [{"text": "a"}]}) };
    assert_eq!(from_role("Tool", &body).parts, [want]);
}

#[test]
fn a_run_is_cut_after_the_last_user_and_choices_are_not() {
    let run =
        json!({"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]});
    assert_eq!(output(&run), [Message::text("assistant", "So.")]);
    let two = json!({"choices": [{"index": 0, "message": {"content": "a"}}, {"index": 1, "message": {"content": "b"}}]});
    assert_eq!(output(&two).len(), 2);
}

#[test]
fn other_objects_are_no_messages() {
    for other in [
        json!({"question": "Why?", "context": "long"}),
        json!({"city": "Paris", "unit": "celsius"}),
        json!([{"id": "doc", "page_content": "text", "metadata": {}, "type": "Document"}]),
        json!({"messages": ["ChatMessage(role=<MessageRole.USER: 'user'>)"]}),
        json!({"message": {"severity": "low"}}),
        json!([1, "two", null]),
    ] {
        assert_eq!(input(&other), [], "{other}");
        assert_eq!(output(&other), [], "{other}");
    }
}
