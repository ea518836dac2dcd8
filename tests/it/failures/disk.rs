//! Disks that fail: file operations of one process by a preloaded library, and file systems of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The switch of the preloaded library of `fault.c`.
pub struct Fault {
    control: PathBuf,
}

impl Fault {
    /// None if there is no C compiler and this is not CI.
    pub fn new(folder: &Path) -> Option<Self> {
        library()?;
        let control = folder.join("fault");
        std::fs::write(&control, "").unwrap();
        Some(Self { control })
    }

    /// The variables that a process needs to be switched by this.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        let library = library().map(|path| path.display().to_string()).unwrap_or_default();
        [("LD_PRELOAD", library), ("GROUNDLINE_FAULT", self.control.display().to_string())]
    }

    /// From now on operations on paths with `text` fail in this way: `full`, `sync` or `hang`.
    pub fn set(&self, mode: &str, text: &str) {
        // Renamed into place: a reader must never see half a line.
        let next = self.control.with_extension("next");
        std::fs::write(&next, format!("{mode} {text}\n")).unwrap();
        std::fs::rename(next, &self.control).unwrap();
    }

    /// Nothing fails any more.
    pub fn off(&self) {
        self.set("off", "-");
    }
}

fn library() -> Option<&'static PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_ref()
}

fn build() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/failures/fault.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (library, made) = (folder.join("fault.so"), folder.join(format!("fault-{}.so", std::process::id())));
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&made).arg(source).status();
    // Renamed into place: another run may be loading it.
    if built.is_ok_and(|status| status.success()) && std::fs::rename(made, &library).is_ok() {
        return Some(library);
    }
    assert!(std::env::var("CI").is_err(), "fault.c does not compile: a C compiler is needed");
    eprintln!("there is no C compiler; this test does nothing");
    None
}

/// A file system of its own, unmounted when it is dropped.
pub struct Mount(pub PathBuf);

impl Mount {
    /// A file system in memory with `mib` MiB; none if this process may not mount.
    pub fn memory(at: &Path, mib: u64) -> Option<Self> {
        Self::try_mount(at, &["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"])
    }

    /// The file system in the file `image`; none if this process may not mount.
    pub fn image(at: &Path, image: &Path) -> Option<Self> {
        Self::try_mount(at, &["-o", "loop,commit=300", image.to_str()?])
    }

    fn try_mount(at: &Path, how: &[&str]) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(how).arg(at).stderr(Stdio::null()).status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("this process may not mount file systems; this test does nothing");
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
