import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useId } from 'react'

/**
 * A field for a secret of another system, which is no password of this site. Browsers neither fill
 * nor store `one-time-code`, and they ignore `off`; the other attributes ask the same of password
 * managers.
 */
export function SecretInput(props: PasswordInputProps) {
  const { error } = props
  const id = useId()
  return (
    <PasswordInput
      id={id}
      autoComplete="one-time-code"
      spellCheck={false}
      maxLength={8000}
      data-1p-ignore
      data-bwignore
      data-lpignore="true"
      // Mantine gives these to every other input.
      aria-describedby={error ? `${id}-error ${id}-description` : `${id}-description`}
      aria-invalid={error ? true : undefined}
      {...props}
    />
  )
}
