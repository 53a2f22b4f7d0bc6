// A reader of .idx files, written from docs/index-format.md alone. std only: `rustc -O reader.rs`.
//
//     reader records FILE NAME WIDTH CONTENT   numbers on standard input, a record in hex for each
//     reader eight FILE CONTENT                states on standard input, a solution for each

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

const BLOCK: u64 = 4096;
const BODY: usize = 4092;
const VERSION: u16 = 2;

type Answer<T> = Result<T, String>;

struct Index {
    file: File,
    width: usize,
    count: u64,
    content: [u8; 32],
    cached: Option<(u64, Vec<u8>)>,
    table: [u32; 256],
}

fn refuse<T>(why: impl Into<String>) -> Answer<T> {
    Err(why.into())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn crc_table() -> [u32; 256] {
    let mut table = [0u32; 256];
    for byte in 0..256u32 {
        let mut crc = byte;
        for _ in 0..8 {
            crc = (crc >> 1) ^ (if crc & 1 == 1 { 0xEDB8_8320 } else { 0 });
        }
        table[byte as usize] = crc;
    }
    table
}

fn crc32(table: &[u32; 256], parts: &[&[u8]]) -> u32 {
    let mut crc = !0u32;
    for byte in parts.iter().flat_map(|part| part.iter()) {
        crc = (crc >> 8) ^ table[((crc ^ u32::from(*byte)) & 255) as usize];
    }
    !crc
}

impl Index {
    fn open(path: &str, name: &str, width: usize, content: &str) -> Answer<Index> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let size = file.metadata().map_err(|error| error.to_string())?.len();
        let mut block = Vec::new();
        Read::by_ref(&mut file)
            .take(BLOCK)
            .read_to_end(&mut block)
            .map_err(|error| error.to_string())?;
        if !block.starts_with(b"PTIX") {
            return refuse("not an index");
        }
        if block.len() < 6 || u16_at(&block, 4) != VERSION {
            return refuse("another version");
        }
        if block.len() as u64 != BLOCK {
            return refuse("its header is cut off");
        }
        let table = crc_table();
        let content_here: [u8; 32] = block[24..56].try_into().unwrap();
        if !is_intact(&table, &content_here, 0, &block) {
            return refuse("its header is damaged");
        }
        if u16_at(&block, 6) != 0 || u64::from(u32_at(&block, 12)) != BLOCK {
            return refuse("a later use of the format");
        }
        if width == 0 || u32_at(&block, 8) as usize != width || width > BODY {
            return refuse("records of another width");
        }
        let mut padded = [0u8; 64];
        if name.len() > padded.len() {
            return refuse("no index has so long a name");
        }
        padded[..name.len()].copy_from_slice(name.as_bytes());
        if block[56..120] != padded {
            return refuse("the index of another table");
        }
        let count = u64_at(&block, 16);
        let blocks = 1 + u128::from(count).div_ceil((BODY / width) as u128);
        if u128::from(size) != blocks * u128::from(BLOCK) {
            return refuse("cut off, or added to");
        }
        let hexed: String = content_here.iter().map(|byte| format!("{byte:02x}")).collect();
        if hexed != content {
            return refuse("made from another build of the table");
        }
        Ok(Index { file, width, count, content: content_here, cached: None, table })
    }

    fn record(&mut self, number: u64) -> Answer<&[u8]> {
        if number >= self.count {
            return refuse(format!("there are {} records", self.count));
        }
        let records_per_block = (BODY / self.width) as u64;
        let block_number = 1 + number / records_per_block;
        if self.cached.as_ref().map(|cached| cached.0) != Some(block_number) {
            let mut block = vec![0u8; BLOCK as usize];
            self.cached = None;
            self.file
                .seek(SeekFrom::Start(BLOCK * block_number))
                .and_then(|_| self.file.read_exact(&mut block))
                .map_err(|error| error.to_string())?;
            if !is_intact(&self.table, &self.content, block_number, &block) {
                return refuse(format!("block {block_number} is damaged"));
            }
            self.cached = Some((block_number, block));
        }
        let from = (number % records_per_block) as usize * self.width;
        Ok(&self.cached.as_ref().unwrap().1[from..from + self.width])
    }
}

fn is_intact(table: &[u32; 256], content: &[u8; 32], number: u64, block: &[u8]) -> bool {
    crc32(table, &[content, &number.to_le_bytes(), &block[..BODY]]) == u32_at(block, BODY)
}

fn rank(state: &[u8]) -> u64 {
    let mut sum = 0;
    for (cell, digit) in state.iter().enumerate() {
        let smaller = state[cell + 1..].iter().filter(|later| *later < digit).count() as u64;
        sum += smaller * (1..=(8 - cell) as u64).product::<u64>();
    }
    sum
}

fn goal(state: &[u8]) -> &'static str {
    let tiles: Vec<u8> = state.iter().copied().filter(|digit| *digit != b'0').collect();
    let mut pairs = 0;
    for (at, tile) in tiles.iter().enumerate() {
        pairs += tiles[at + 1..].iter().filter(|later| *later < tile).count();
    }
    if pairs % 2 == 0 { "corner" } else { "centre" }
}

/// Lists each move that the board allows, in the order U D L R, and the state after it.
fn moves(state: &[u8]) -> Vec<(char, Vec<u8>)> {
    let blank = state.iter().position(|digit| *digit == b'0').unwrap();
    let mut result = Vec::new();
    for (letter, allowed, to) in [
        ('U', blank >= 3, blank.wrapping_sub(3)),
        ('D', blank < 6, blank + 3),
        ('L', blank % 3 > 0, blank.wrapping_sub(1)),
        ('R', blank % 3 < 2, blank + 1),
    ] {
        if allowed {
            let mut after = state.to_vec();
            after.swap(blank, to);
            result.push((letter, after));
        }
    }
    result
}

/// Returns state, goal, distance, number of solutions, all best first moves and one solution.
fn solve(index: &mut Index, text: &str) -> Answer<String> {
    let mut digits: Vec<u8> = text.bytes().collect();
    digits.sort_unstable();
    if digits != b"012345678" {
        return refuse("no state");
    }
    let record = index.record(rank(text.as_bytes()))?;
    let (distance, solutions) = (record[0], record[1]);
    let (mut first, mut solution) = (String::new(), String::new());
    let mut state = text.as_bytes().to_vec();
    for remaining in (0..distance).rev() {
        let mut next = None;
        for (letter, after) in moves(&state) {
            if index.record(rank(&after))?[0] == remaining {
                if remaining + 1 == distance {
                    first.push(letter);
                }
                next = next.or(Some((letter, after)));
            }
        }
        let Some((letter, after)) = next else { return refuse("no move leads downhill") };
        solution.push(letter);
        state = after;
    }
    let shown = |moves: String| if moves.is_empty() { "-".to_string() } else { moves };
    let goal = goal(text.as_bytes());
    Ok(format!("{text} {goal} {distance} {solutions} {} {}", shown(first), shown(solution)))
}

fn run() -> Answer<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut index = match words[..] {
        ["records", file, name, width, content] => {
            let width = width.parse().map_err(|_| "WIDTH is a number")?;
            Index::open(file, name, width, content)?
        }
        ["eight", file, content] => Index::open(file, "eight", 2, content)?,
        _ => return refuse("records FILE NAME WIDTH CONTENT, or eight FILE CONTENT"),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let answer = if words[0] == "eight" {
            solve(&mut index, &line)
        } else {
            line.parse()
                .map_err(|_| "no number".to_string())
                .and_then(|number| index.record(number))
                .map(|record| record.iter().map(|byte| format!("{byte:02x}")).collect())
        };
        let shown = answer.unwrap_or_else(|why| format!("refused: {why}"));
        writeln!(out, "{shown}").map_err(|error| error.to_string())?;
    }
    out.flush().map_err(|error| error.to_string())
}

fn main() {
    if let Err(why) = run() {
        eprintln!("refused: {why}");
        std::process::exit(1);
    }
}
