import { AssayError, unreachable } from '../error.ts'
import { aggregateFunction, aggregateFunctions } from '../function/aggregate.ts'
import {
  type ResultType,
  type ScalarFunction,
  scalarFunction,
  scalarFunctions,
} from '../function/scalar.ts'
import type { Expression } from '../parser/ast.ts'
import { suggest } from '../parser/suggest.ts'
import { searchedFields } from '../type/search-query.ts'
import { parseTimestamp, toInterval } from '../type/time.ts'
import type { Interval } from '../type/value.ts'
import type { BoundExpression, StaticType } from './bound.ts'
import { constantValue, type EvaluationContext, timeNode, typeOfConstant } from './evaluate.ts'
import { type Call, stepInto } from './field-source.ts'
import type { Scope } from './scope.ts'

type BoundCondition = Extract<BoundExpression, { kind: 'conditional' }>['branches'][number]

/** What may stand in an expression besides the names of its scope. */
export interface Allowed {
  /** Binds calls that mean something here only; undefined for all others. */
  readonly calls?: (call: Call) => BoundExpression | undefined
  /** Binds an aggregate call; undefined where none may stand. */
  readonly aggregates?: (call: Call) => BoundExpression
  /** Names that go before those of the scope. */
  readonly names?: (name: string) => BoundExpression | undefined
}

export interface ExpressionContext extends EvaluationContext {
  /** What `random()` and samples without a seed start from. */
  readonly randomSeed: number
}

/** Binds expressions within one scope. */
export class ExpressionBinder {
  readonly #scope: Scope
  readonly #context: ExpressionContext
  readonly #allowed: Allowed

  constructor(scope: Scope, context: ExpressionContext, allowed: Allowed = {}) {
    this.#scope = scope
    this.#context = context
    this.#allowed = allowed
  }

  bind(node: Expression): BoundExpression {
    switch (node.kind) {
      case 'literal':
        return { kind: 'constant', value: node.value, type: typeOfConstant(node.value) }
      case 'interval':
        return intervalNode(toInterval(node.value, node.unit))
      case 'path':
        return this.#bindPath(node)
      case 'access':
        return stepInto(this.bind(node.operand), node.parts)
      case 'array':
        return { kind: 'array', items: node.items.map((item) => this.bind(item)), type: 'json' }
      case 'object':
        return {
          kind: 'object',
          entries: node.entries.map(([key, value]) => [key, this.bind(value)] as const),
          type: 'json',
        }
      case 'star':
        throw new AssayError('BIND_WRONG_ARGUMENTS', '`*` is not a value', {
          span: node.span,
          hint: 'use it as `select: *` or `count(*)`',
        })
      case 'call':
        return this.#bindCall(node)
      case 'comparison':
        return this.#bindComparison(node)
      case 'arithmetic': {
        const left = this.bind(node.left)
        const right = this.bind(node.right)
        return {
          kind: 'arithmetic',
          operator: node.operator,
          left,
          right,
          type: arithmeticType(left.type, right.type),
        }
      }
      case 'negate': {
        const operand = this.bind(node.operand)
        if (operand.kind === 'constant' && typeof operand.value === 'number') {
          return { kind: 'constant', value: -operand.value, type: 'number' }
        }
        if (operand.kind === 'constant' && typeof operand.value === 'bigint') {
          return { kind: 'constant', value: -operand.value, type: 'number' }
        }
        return {
          kind: 'negate',
          operand,
          type: operand.type === 'interval' ? 'interval' : 'number',
        }
      }
      case 'not':
        return negated(this.bind(node.operand))
      case 'and':
      case 'or':
        return {
          kind: node.kind,
          operands: node.operands.map((operand) => this.bind(operand)),
          type: 'boolean',
        }
      case 'is_null':
        return negatedIf(node.negated, {
          kind: 'is_null',
          operand: this.bind(node.operand),
          type: 'boolean',
        })
      case 'like':
        return negatedIf(node.negated, {
          kind: 'like',
          operand: this.bind(node.operand),
          pattern: this.bind(node.pattern),
          caseInsensitive: node.caseInsensitive,
          type: 'boolean',
        })
      case 'includes':
        return negatedIf(node.negated, {
          kind: 'includes',
          haystack: this.bind(node.haystack),
          needle: this.bind(node.needle),
          type: 'boolean',
        })
      case 'match':
        return negatedIf(node.negated, {
          kind: 'match',
          operand: this.bind(node.operand),
          query: this.bind(node.query),
          type: 'boolean',
        })
      case 'in': {
        const operand = this.bind(node.operand)
        const list = this.bind(node.list)
        return negatedIf(node.negated, { kind: 'in', operand, list, type: 'boolean' })
      }
      case 'between': {
        const operand = this.bind(node.operand)
        const [low, high] = [this.bind(node.low), this.bind(node.high)]
        return negatedIf(node.negated, {
          kind: 'and',
          operands: [
            { kind: 'comparison', operator: 'ge', ...timesAligned(operand, low), type: 'boolean' },
            { kind: 'comparison', operator: 'le', ...timesAligned(operand, high), type: 'boolean' },
          ],
          type: 'boolean',
        })
      }
      case 'conditional': {
        const branches: BoundCondition[] = node.branches.map(({ condition, result }) => ({
          condition: this.bind(condition),
          result: this.bind(result),
        }))
        const otherwise = this.bind(node.otherwise)
        const type = [...branches.map((branch) => branch.result), otherwise]
          .filter((result) => !isNull(result))
          .map((result) => result.type)
          .reduce<StaticType | undefined>(
            (common, type) => (common === undefined || common === type ? type : 'json'),
            undefined,
          )
        return { kind: 'conditional', branches, otherwise, type: type ?? 'json' }
      }
      default:
        return unreachable(node)
    }
  }

  #bindPath({ parts, span }: Extract<Expression, { kind: 'path' }>): BoundExpression {
    const [name, ...rest] = parts
    const named = this.#allowed.names?.(String(name))
    return named ? stepInto(named, rest) : this.#scope.resolve(parts, span)
  }

  #bindComparison(node: Extract<Expression, { kind: 'comparison' }>): BoundExpression {
    const left = this.bind(node.left)
    const right = this.bind(node.right)
    const tested = isNullLiteral(node.right) ? left : isNullLiteral(node.left) ? right : undefined
    // Clients rely on `!= null` as the null test that SQL does not have.
    if (tested && (node.operator === 'ne' || node.operator === 'is_different')) {
      return negated({ kind: 'is_null', operand: tested, type: 'boolean' })
    }
    if (tested && node.operator === 'is_same') {
      return { kind: 'is_null', operand: tested, type: 'boolean' }
    }
    return {
      kind: 'comparison',
      operator: node.operator,
      ...timesAligned(left, right),
      type: 'boolean',
    }
  }

  #bindCall(node: Call): BoundExpression {
    const special = this.#allowed.calls?.(node)
    if (special) return special
    if (aggregateFunction(node.name)) {
      if (this.#allowed.aggregates) return this.#allowed.aggregates(node)
      throw new AssayError(
        'BIND_MISPLACED_AGGREGATE',
        `the aggregate ${node.name}() cannot be used here`,
        { span: node.span, hint: 'aggregates belong into measures' },
      )
    }
    if (node.distinct || node.filter) {
      const extra = node.distinct ? 'DISTINCT' : 'FILTER'
      throw new AssayError('BIND_WRONG_ARGUMENTS', `${node.name}() takes no ${extra}`, {
        span: node.span,
        hint: 'only aggregates do',
      })
    }
    return (
      this.#scope.source.call(node, (argument) => this.bind(argument)) ??
      this.#bindSpecial(node) ??
      this.#bindScalar(node)
    )
  }

  /** Functions that stand for an expression over fields that their text does not name. */
  #bindSpecial(node: Call): BoundExpression | undefined {
    switch (node.name) {
      case 'search':
        return this.#bindSearch(node)
      case 'random':
        return this.#bindRandom(node)
      case 'repeats_usage':
        return this.#scope.source.repeatsUsage?.()
      case 'any_span':
      case 'filter_spans':
        throw new AssayError('BIND_UNSUPPORTED', `${node.name}() needs spans`, {
          span: node.span,
          hint: 'use it where records are read, in the innermost query',
        })
      default:
        return undefined
    }
  }

  #bindSearch(node: Call): BoundExpression {
    const [query] = node.arguments
    if (!query || node.arguments.length > 1) {
      throw new AssayError('BIND_WRONG_ARGUMENTS', 'search() takes one text', {
        span: node.span,
        hint: "for example search('timeout')",
      })
    }
    const words = this.bind(query)
    const operands = searchedFields.flatMap((name): BoundExpression[] => {
      const operand = this.#scope.source.field([name])
      return operand
        ? [{ kind: 'match', operand, query: words, isSearch: true, type: 'boolean' }]
        : []
    })
    return { kind: 'or', operands, type: 'boolean' }
  }

  /** Even over records, and one value for each: another for every query. */
  #bindRandom(node: Call): BoundExpression {
    const key = this.#scope.source.field(['_pagination_key'])
    if (!key || node.arguments.length > 0) {
      throw new AssayError('BIND_UNSUPPORTED', 'random() gives a number for each record', {
        span: node.span,
        hint: 'write random() in a query over records',
      })
    }
    const seed: BoundExpression = {
      kind: 'constant',
      value: this.#context.randomSeed,
      type: 'number',
    }
    return { kind: 'call', name: 'hash_fraction', arguments: [key, seed], type: 'number' }
  }

  #bindScalar(node: Call): BoundExpression {
    const definition = scalarFunction(node.name)
    if (!definition) {
      const near = suggest(node.name, functionNames)
      throw new AssayError('BIND_UNKNOWN_FUNCTION', `unknown function ${node.name}()`, {
        span: node.nameSpan,
        hint:
          near === undefined
            ? 'the page of the language lists all functions'
            : `did you mean ${near}()?`,
      })
    }
    checkArgumentCount(node, definition)
    const operands = node.arguments.map((argument) => this.bind(argument))
    const constants = operands.map((operand) => constantValue(operand, this.#context))
    const fault = definition.check(constants)
    if (fault) {
      throw new AssayError('BIND_WRONG_ARGUMENTS', `${node.name}(): ${fault.message}`, {
        span: node.arguments[fault.argument]!.span,
        hint: fault.hint,
      })
    }
    if (definition.name === 'if') return this.#bindIf(operands)
    if (definition.name === 'includes') {
      return { kind: 'includes', haystack: operands[0]!, needle: operands[1]!, type: 'boolean' }
    }
    const call: BoundExpression = {
      kind: 'call',
      name: definition.name,
      arguments: [...operands, ...this.#fieldsOf(definition, node)],
      type: resultType(definition.result, operands),
    }
    return definition.isUsage ? this.#countedOnce(call) : call
  }

  #countedOnce(usage: BoundExpression): BoundExpression {
    const condition = this.#scope.source.repeatsUsage?.()
    if (!condition) return usage
    const branches = [{ condition, result: nullConstant }]
    return { kind: 'conditional', branches, otherwise: usage, type: usage.type }
  }

  /** What a function reads of the row by itself; null where the row cannot have it. */
  #fieldsOf({ fields }: ScalarFunction, node: Call): BoundExpression[] {
    const found = fields.map((path) => this.#scope.source.field(path))
    if (fields.length > 0 && found.every((field) => field === undefined)) {
      throw new AssayError('BIND_UNSUPPORTED', `${node.name}() needs the fields of spans`, {
        span: node.span,
        hint: `use it where records are read, or select ${fields[0]![0]} there`,
      })
    }
    return found.map((field) => field ?? nullConstant)
  }

  #bindIf(operands: readonly BoundExpression[]): BoundExpression {
    const [condition, result, otherwise = nullConstant] = operands
    return {
      kind: 'conditional',
      branches: [{ condition: condition!, result: result! }],
      otherwise,
      type: resultType('argument', [result!, otherwise]),
    }
  }
}

const nullConstant: BoundExpression = { kind: 'constant', value: null, type: 'json' }

const functionNames = [
  ...[...scalarFunctions, ...aggregateFunctions].map(({ name }) => name),
  'any_span',
  'filter_spans',
  'search',
  'random',
]

export function checkArgumentCount(
  node: Call,
  definition: {
    readonly signature: string
    readonly minArguments: number
    readonly maxArguments: number
  },
): void {
  const { signature, minArguments, maxArguments } = definition
  const count = node.arguments.length
  if (count >= minArguments && count <= maxArguments) return
  const expected =
    minArguments === maxArguments
      ? `${minArguments}`
      : maxArguments === Number.POSITIVE_INFINITY
        ? `at least ${minArguments}`
        : `${minArguments} to ${maxArguments}`
  throw new AssayError(
    'BIND_WRONG_ARGUMENTS',
    `${node.name}() takes ${expected} argument${expected === '1' ? '' : 's'}, not ${count}`,
    { span: node.span, hint: `write ${node.name}(${signature})` },
  )
}

function isNullLiteral(node: Expression): boolean {
  return node.kind === 'literal' && node.value === null
}

export function isNull(node: BoundExpression): boolean {
  return node.kind === 'constant' && node.value === null
}

export function negated(operand: BoundExpression): BoundExpression {
  return { kind: 'not', operand, type: 'boolean' }
}

function negatedIf(condition: boolean, operand: BoundExpression): BoundExpression {
  return condition ? negated(operand) : operand
}

/** A time written as text becomes a time where it is compared with one. */
function timesAligned(left: BoundExpression, right: BoundExpression) {
  if (left.type === 'timestamp') return { left, right: timeConstant(right) }
  if (right.type === 'timestamp') return { left: timeConstant(left), right }
  return { left, right }
}

function timeConstant(node: BoundExpression): BoundExpression {
  if (node.kind !== 'constant' || typeof node.value !== 'string') return node
  const time = parseTimestamp(node.value)
  return time === undefined ? node : timeNode(time)
}

/** Fields of unknown type hold no times, so what can be calculated from them are numbers. */
function arithmeticType(left: StaticType, right: StaticType): StaticType {
  if (left === 'timestamp') return right === 'timestamp' ? 'interval' : 'timestamp'
  if (right === 'timestamp') return 'timestamp'
  if (left === 'interval' || right === 'interval') return 'interval'
  return 'number'
}

function intervalNode({ months, ms }: Interval): BoundExpression {
  return { kind: 'interval', months, ms, type: 'interval' }
}

/** The type of a function's result, where some depend on the arguments. */
export function resultType(declared: ResultType, operands: readonly BoundExpression[]): StaticType {
  if (declared === 'integer') return 'number'
  if (declared !== 'argument') return declared
  const types = new Set(operands.filter((operand) => !isNull(operand)).map((o) => o.type))
  return types.size === 1 ? [...types][0]! : 'json'
}
