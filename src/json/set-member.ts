/** Sets a member of an object, whatever its name: an assignment would take `__proto__` for the prototype. */
export function setMember<Value>(
  object: { [name: string]: Value },
  name: string,
  value: Value,
): void {
  if (name !== '__proto__') object[name] = value
  else {
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
}
