"""Runs inside diffprivlib's own environment: DATA.npz WORK.json, fits as JSON on standard output."""

import json
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import LinearRegression


def main() -> None:
    warnings.simplefilter("ignore")
    data = np.load(sys.argv[1])
    X, y = data["X"], data["y"]
    with open(sys.argv[2], encoding="utf-8") as file:
        work = json.load(file)
    out = []
    for job in work["jobs"]:
        model = LinearRegression(epsilon=job["epsilon"], bounds_X=(work["lower"], work["upper"]),
                                 bounds_y=tuple(work["response"]), random_state=job["seed"])
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        out.append({"coef": model.coef_.tolist(), "intercept": float(model.intercept_), "seconds": seconds})
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
