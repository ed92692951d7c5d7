"""placeholder"""
import math
SHARED = {"math": lambda: {n: getattr(math, n) for n in dir(math) if n[0] != "_"}}
MODULES = {}
