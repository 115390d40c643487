//! Which processors and whose memory the process uses.
//!
//! Memory is taken from the node of the processor that touches it first, so a process that is placed
//! before it allocates has its memory beside it.

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::Failure;

/// Where to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placement {
    /// This processor alone.
    pub cpu: Option<usize>,
    /// The processors of this NUMA node; `cpu` must be one of them.
    pub numa: Option<usize>,
    /// Keep all memory resident.
    pub lock_memory: bool,
}

impl Placement {
    /// Moves the calling thread, and with it the threads that it starts later.
    ///
    /// # Errors
    /// The processor, the node or the right to lock memory does not exist.
    pub fn apply(&self) -> Result<(), Failure> {
        let node = self.numa.map(processors_of_node).transpose()?;
        let processors = match (self.cpu, node) {
            (Some(cpu), Some(node)) if !node.contains(&cpu) => {
                return Err(Failure::usage(format_args!(
                    "--cpu {cpu} is not a processor of --numa {}",
                    self.numa.unwrap_or_default()
                )));
            }
            (Some(cpu), _) => vec![cpu],
            (None, Some(node)) => node,
            (None, None) => Vec::new(),
        };
        if !processors.is_empty() {
            run_on(&processors)?;
        }
        if self.lock_memory {
            mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|error| {
                Failure::unavailable(format_args!(
                    "--mlock: {error}; raise the limit (ulimit -l, LimitMEMLOCK=)"
                ))
            })?;
        }
        Ok(())
    }
}

fn run_on(processors: &[usize]) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    for cpu in processors {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(no_processor(*cpu, Errno::INVAL));
        }
        set.set(*cpu);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| no_processor(processors.first().copied().unwrap_or_default(), error))
}

fn no_processor(cpu: usize, error: Errno) -> Failure {
    Failure::unavailable(format_args!(
        "--cpu {cpu}: this process cannot run there: {error}"
    ))
}

fn processors_of_node(node: usize) -> Result<Vec<usize>, Failure> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let list = std::fs::read_to_string(&path)
        .map_err(|error| Failure::unavailable(format_args!("--numa {node}: {path}: {error}")))?;
    parse_list(list.trim())
        .ok_or_else(|| Failure::unavailable(format_args!("--numa {node}: {path}: {list}")))
}

/// Reads the kernel's list of processors: `0-3,8,10-11`.
fn parse_list(list: &str) -> Option<Vec<usize>> {
    let mut processors = Vec::new();
    for run in list.split(',').filter(|run| !run.is_empty()) {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        processors.extend(first..=last);
    }
    Some(processors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_list(""), Some(vec![]));
        assert_eq!(parse_list("0-x"), None);
    }

    #[test]
    fn a_processor_that_is_not_there_is_named() {
        let placement = Placement {
            cpu: Some(999_999),
            ..Placement::default()
        };
        let failure = placement.apply().unwrap_err().to_string();
        assert!(failure.starts_with("--cpu 999999"), "{failure}");
    }

    #[test]
    fn a_node_that_is_not_there_is_named() {
        let placement = Placement {
            numa: Some(4_096),
            ..Placement::default()
        };
        let failure = placement.apply().unwrap_err().to_string();
        assert!(failure.starts_with("--numa 4096"), "{failure}");
    }
}
