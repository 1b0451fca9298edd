//! Work on many things at once, on threads that end with it.

/// Fewer things than this are done faster by one thread alone.
const WORTH_THREADS: usize = 64;

/// Does something with each thing, on as many threads as the machine has, and gives the outcomes in order. Each thread
/// is given something of its own to work with.
pub(super) fn in_parallel<T: Sync, S: Send, R: Send>(
    things: &[T],
    own: impl Fn() -> S,
    work: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    // Asked only where it matters: to count processors takes longer than to compile a file.
    let threads = || std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let threads = if things.len() < WORTH_THREADS { 1 } else { threads() };
    if threads < 2 {
        let own = own();
        return things.iter().map(|thing| work(&own, thing)).collect();
    }
    let chunk = things.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = things
            .chunks(chunk)
            .map(|part| {
                let own = own();
                scope.spawn(move || part.iter().map(|thing| work(&own, thing)).collect::<Vec<R>>())
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
