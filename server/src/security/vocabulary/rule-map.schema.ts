import { type Static, Type } from 'typebox'

/**
 * Rules of several tools that report the same weakness at the same place. `rules` lists the rules
 * by tool, in the spelling that `rule-name.ts` returns.
 */
export const RuleGroup = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', maxLength: 100 }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    cwes: Type.Array(Type.String({ pattern: '^CWE-[1-9]\\d{0,4}$' }), { uniqueItems: true }),
    rules: Type.Record(
      Type.String({ pattern: '^[a-z0-9][a-z0-9 ._-]{0,49}$' }),
      Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, uniqueItems: true }),
    ),
    /** The documents that the group was compiled from, as URLs or titles. */
    sources: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1 }),
    /** True: the control is about a file as a whole, so the lines of findings do not matter. */
    whole_file: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type RuleGroup = Static<typeof RuleGroup>

/** The format of the built-in files, and of the file that `SHIPLOCK_RULE_MAP` names. */
export const RuleMapFile = Type.Object(
  {
    /** Groups of rules for code. */
    weaknesses: Type.Optional(Type.Array(RuleGroup)),
    /** Groups of rules for infrastructure as code. */
    controls: Type.Optional(Type.Array(RuleGroup)),
    /** Other names that a tool itself has for a rule, by tool and rule. */
    spellings: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
      ),
    ),
  },
  { additionalProperties: false },
)
export type RuleMapFile = Static<typeof RuleMapFile>
