//! What programs read is as its schema says: that of SARIF, which is not ours, and our own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::program::Sandbox;

/// A schema that is checked in.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a schema");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.enable_format_assertions();
        compiler.add_resource("schema", serde_json::from_str(&text).expect("JSON")).expect("a schema");
        let index = compiler.compile("schema", &mut schemas).expect("a schema");
        Self { schemas, index }
    }

    fn faults(&self, document: &Value) -> Option<String> {
        self.schemas.validate(document, self.index).err().map(|fault| format!("{fault:#}"))
    }
}

/// A project with findings of many kinds: with and without a place, labels, fixes, in several files, under odd names.
fn faulty() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.fork("a.md", "---\nfork: true\nafter: b\nthrottle: 30M\nmodel: x\ntags: a, b\n---\nSee [it](no.md).\n");
    sandbox.fork("b.md", "---\nfork: true\nafter: a\nrun_on: [idle, compact]\n---\nBring LOG.md up to date.\n");
    sandbox.fork("c d%\u{202e}é.md", "---\nfork: true\ndescription: a: b\nrun_on:\n\t- idle\n---\nTidy.\n");
    sandbox.fork("e.md", b"---\nfork: true\ndescription: caf\xe9\n---\nTidy.\n");
    sandbox.fork("deep/a.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    sandbox.write(".autofork/config.toml", "wake_debunce = 1\nenable_tags = [\"a\", \"none\"]\n");
    symlink("nowhere.md", sandbox.project().join(".autofork/forks/lost.md")).expect("a link");
    sandbox
}

#[test]
fn sarif_is_what_the_standard_says() {
    let schema = Schema::read("tests/check/sarif/sarif-schema-2.1.0.json");
    for sandbox in [faulty(), Sandbox::new()] {
        let log = sandbox.run(&["check", "--format", "sarif"]).out;
        let mut log: Value = serde_json::from_str(&log).expect("JSON");
        assert_eq!(schema.faults(&log), None);
        log["runs"][0]["columnKind"] = "bytes".into();
        assert_ne!(schema.faults(&log), None, "the schema sees what is wrong");
    }
}

#[test]
fn the_report_is_what_our_schema_says() {
    let schema = Schema::read("docs/schemas/check.json");
    for sandbox in [faulty(), Sandbox::new()] {
        let report = sandbox.run(&["check", "--format", "json"]).out;
        let mut report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(schema.faults(&report), None);
        report["summary"]["errors"] = "none".into();
        assert_ne!(schema.faults(&report), None, "the schema sees what is wrong");
    }
}

#[test]
fn what_the_schemas_accept_is_what_the_compiler_accepts() {
    let frontmatter = Schema::read("docs/schemas/frontmatter.json");
    for (text, is_right) in [
        ("fork: true", true),
        ("fork: true\nrun_on: [idle, idle: 20m, context_used: 80%, context_tokens: 150000]\nthrottle: 2h", true),
        ("fork: true\nafter: [a, b]\ntags: [ci]\noverlap: false\ndescription: It tidies up.", true),
        ("fork: true\nthrottle: 30M", false),
        ("fork: true\noverlap: \"on\"", false),
        ("fork: true\nrun_on: [compact]", false),
    ] {
        let value: Value = serde_yaml::from_str(text).expect("YAML");
        assert_eq!(frontmatter.faults(&value).is_none(), is_right, "{text}: {:?}", frontmatter.faults(&value));
        let sandbox = Sandbox::new();
        sandbox.fork("x.md", format!("---\n{text}\n---\nBring LOG.md up to date.\n"));
        sandbox.fork("a.md", "---\nfork: true\n---\nTidy.\n");
        sandbox.fork("b.md", "---\nfork: true\n---\nTidy.\n");
        let run = sandbox.run(&["check", "--deny", "warn", ".autofork/forks/x.md"]);
        assert_eq!(run.code == 0, is_right, "{text}: {}", run.out);
    }
    let config = Schema::read("docs/schemas/config.json");
    for (text, is_right) in [
        (
            "wake_debounce = \"5s\"\nenable_tags = [\"ci\"]\n[tag_throttles]\nci = 60\n[lint]\nempty-body = \"off\"",
            true,
        ),
        ("wake_debounce = \"soon\"", false),
        ("wake_debunce = 5", false),
        ("[lint]\nempty-body = \"loud\"", false),
    ] {
        let value: Value = toml::from_str(text).expect("TOML");
        assert_eq!(config.faults(&value).is_none(), is_right, "{text}: {:?}", config.faults(&value));
        let sandbox = Sandbox::new();
        sandbox.fork("x.md", "---\nfork: true\ntags: [ci]\n---\nBring LOG.md up to date.\n");
        sandbox.write(".autofork/config.toml", text);
        assert_eq!(sandbox.run(&["check", "--deny", "warn"]).code == 0, is_right, "{text}");
    }
}
