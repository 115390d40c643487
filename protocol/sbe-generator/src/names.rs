//! Names of the schema as Rust spells them.

/// Words that no field can be called.
const KEYWORDS: [&str; 3] = ["type", "match", "move"];

/// `clientName` as `client_name`.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    if KEYWORDS.contains(&snake.as_str()) {
        snake.push('_');
    }
    snake
}

/// `clientName` as `ClientName`.
pub(crate) fn pascal(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_their_spelling() {
        assert_eq!(snake("clientName"), "client_name");
        assert_eq!(snake("type"), "type_");
        assert_eq!(pascal("members"), "Members");
    }
}
