import { encodeNumber, type VersionOrder } from './version-key.ts'

const TILDE = '\u0001'
const END = '\u0002'
const OTHERS_START = 0x100
/** A colon belongs to the epoch, or follows one. */
const DEBIAN = /^(?:([0-9]+):([!-~]+)|([!-9;-~]+))$/

/**
 * deb-version(7): epoch, upstream version and revision. Each is read as texts and numbers in turn;
 * a tilde comes before the end, and letters come before other characters.
 */
export const toDpkgKey: VersionOrder = (version) => {
  const match = DEBIAN.exec(version.trim())
  if (match === null) return null
  const [, epoch = '', versioned, plain] = match
  const rest = versioned ?? plain ?? ''
  const hyphen = rest.lastIndexOf('-')
  const upstream = hyphen < 0 ? rest : rest.slice(0, hyphen)
  const revision = hyphen < 0 ? '' : rest.slice(hyphen + 1)
  return encodeNumber(epoch) + encodeComponent(upstream) + encodeComponent(revision)
}

/** An absent number is zero, so that `1.0-0` equals `1.0`. */
function encodeComponent(component: string): string {
  let key = ''
  for (const [, text = '', number = ''] of component.matchAll(/([^0-9]*)([0-9]*)/g)) {
    if (text === '' && number === '' && key !== '') break
    key += `${Array.from(text, encodeCharacter).join('')}${END}${encodeNumber(number)}`
  }
  return key + END
}

function encodeCharacter(character: string): string {
  if (character === '~') return TILDE
  return /[A-Za-z]/.test(character) ? character : String.fromCharCode(OTHERS_START + character.charCodeAt(0))
}
