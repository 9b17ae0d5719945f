"""Studies of Fallah, Makhdoumi, Malekian and Ozdaglar 2022: buying records from people who mind two leaks."""
