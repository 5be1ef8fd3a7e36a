import { createHash } from 'node:crypto'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
/** Words of languages and formats. They keep their text: they say nothing of a program. */
const COMMON = new Set(
  `abstract all and any apps args array as assert async await aws azure batch binding bool boolean break build byte
  case catch char class claim cluster cmd config configmap console const container containers continue copy cpu
  cron curl daemon daemonset data data debug def default defer deployment dict do docker dockerfile else elif
  empty encoding enum env error eval except exec export extends false file final finally float for from func
  function get global go goto google group http https id if image images import in include ingress init input
  instance int interface is job jobs key kind kms kubernetes label labels lambda len let limits list lock log
  long main map match math memory metadata method mode module name namespace new nil node none not null number
  object open or os output package params pass password path pod pods policy port private print process
  protocol provider public raise range read replica replicas repository request requests require resource return
  role rules run secret security self selector service set shell short signed spec stateful statefulset static
  status str strcpy string strings struct subprocess super switch sys template terraform test this throw
  token true try type typedef undefined unsigned use user username uses using value values var variable
  version void volume volumes while with write yaml yield`.split(/\s+/),
)

/**
 * Replaces the words of a text, so that reports can be shared without the source code they quote.
 * A word always gets the same replacement, of the same length and case: texts that are equal or
 * similar stay so. Punctuation, white space, digits and common keywords remain.
 */
export function maskText(text: string): string {
  return text.replace(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g, (word) => (isKept(word) ? word : replacement(word)))
}

function isKept(word: string): boolean {
  return word.length < 3 || COMMON.has(word.toLowerCase()) || word === 'REDACTED'
}

function replacement(word: string): string {
  const digest = createHash('sha512').update(word.toLowerCase()).digest()
  return [...word]
    .map((letter, at) => {
      const masked = LETTERS[(digest[at % digest.length] ?? 0) % LETTERS.length] ?? 'x'
      return letter === letter.toUpperCase() ? masked.toUpperCase() : masked
    })
    .join('')
}
