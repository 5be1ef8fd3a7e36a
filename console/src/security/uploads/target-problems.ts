import type { UploadTarget } from './upload-item.ts'

// The same rules as the API's, so that a field says what is wrong before files are hashed.
const REPOSITORY = /^(?!\s)[^/\p{Cc}]+(?:\/[^/\p{Cc}]+)+(?<!\s)$/u
const COMMIT = /^[0-9a-f]{7,40}$/
const CATEGORY = /^[A-Za-z0-9._/:-]*$/

type Problems = Partial<Record<'repository' | 'commit' | 'category', string>>

/** What is wrong with the fields of a target. Nothing if files can be sent with it. */
export function targetProblems({ repository, commit = '', category = '' }: UploadTarget): Problems {
  return {
    ...(!REPOSITORY.test(repository) && { repository: 'Write it as owner/name.' }),
    ...(commit !== '' && !COMMIT.test(commit) && { commit: 'Use 7 to 40 hexadecimal digits.' }),
    ...(!CATEGORY.test(category) && { category: 'Use letters, digits and . _ / : -' }),
  }
}
