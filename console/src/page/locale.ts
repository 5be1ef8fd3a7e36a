/**
 * The locale of numbers and dates: the reader's own variety of English, because "vor 3 Stunden" in
 * an English sentence reads badly.
 */
export const LOCALE = navigator.languages.find((language) => /^en\b/i.test(language)) ?? 'en'
